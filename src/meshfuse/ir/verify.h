// What is legal in a fusion.
#pragma once

#include <string>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Every rule that `fusion` breaks, in words; empty when it is legal. The rules: values are defined before use and once;
/// arguments fit their parameters' kinds and count; outputs exist and are tensors; computed tensors are written into inputs of
/// their element type and sizes, each input once; contiguity is given for inputs alone and is nullopt exactly on broadcast
/// dimensions; stride orders are permutations; symbols have sources; extents are not negative; CPU scalars have rank 0;
/// placements name dimensions that exist.
std::vector<std::string> violations(const Fusion& fusion);

/// Throws InternalError listing the violations, if any, and naming `after`, the pass that ran last.
void verify(const Fusion& fusion, std::string_view after);

}  // namespace meshfuse
