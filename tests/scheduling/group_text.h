// Fusions as text in, groups as text out.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"
#include "meshfuse/scheduling/violations.h"

namespace meshfuse {

inline std::string groupsOf(const std::string& text, const CostModel& costs = {}) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups = segment(fusion, costs);
  EXPECT_EQ(groupViolations(fusion, groups), std::vector<std::string>()) << text;
  std::string result;
  for (const Group& group : groups) {
    result += toText(fusion, group) + "\n";
  }
  return result;
}

inline const std::string kX = "input tv0: Float[8, 6] contiguity(t, t)\n";

}  // namespace meshfuse
