// The steps from one sharding of a tensor to another on the same mesh.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

/// One step changes the placement on one mesh axis.
struct ReshardStep {
  int64_t axis = 0;
  Placement to;
};

/// Either the steps, or why there are none.
struct ReshardPlan {
  std::vector<ReshardStep> steps;
  std::string refusal;  // empty when the steps do it
};

/// Steps that take a tensor of `globalSizes` from `from` to the placements `to`: reductions first, then gathers from the
/// innermost mesh axis outwards, then local slices inwards. Gathers and scatters need equal shards; strided shards cannot be
/// gathered or made.
ReshardPlan planResharding(const Sharding& from, std::span<const Placement> to,
                           std::span<const int64_t> globalSizes);

}  // namespace meshfuse
