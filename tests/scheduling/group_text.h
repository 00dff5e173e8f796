// Fusions as text in, groups as text out.
#pragma once

#include <string>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {

inline std::string groupsOf(const std::string& text, const CostModel& costs = {}) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  std::string result;
  for (const Group& group : segment(fusion, costs)) {
    result += toText(fusion, group) + "\n";
  }
  return result;
}

inline const std::string kX = "input tv0: Float[8, 6] contiguity(t, t)\n";

}  // namespace meshfuse
