// What checking results against a reference needs of a fusion: how long its sums are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/ops/concretize.h"

namespace meshfuse {

/// For each output, then for each value that is written into an input, how many terms are summed on the way to one of its
/// elements: those of one operation after the other together, the most over all ways. 1 where nothing is summed; maxima and
/// minima sum nothing. Throws UserError for sizes that do not fit the definition.
std::vector<int64_t> reductionSizes(const Fusion& fusion, std::span<const InputShape> inputs);

}  // namespace meshfuse
