// Sums over rows of what a kernel of row reductions reads or computes: the gradients of a normalization's weights.
#pragma once

#include <vector>

#include "meshfuse/scheduling/group_edges.h"

namespace meshfuse {

/// The groups of segment(), where sums along the parallel loops of a kernel that reduces rows are computed in it, of floats that it
/// reads or makes. What is done with such a sum stays a kernel of its own. A joined kernel has sums of two kinds: those over the
/// reduced loop, which its passes are divided by, and those over all other loops, which nothing in it reads.
std::vector<Group> joinOuterSums(const Fusion& fusion, std::vector<Group> groups,
                                 const CostModel& costs, Reasons reasons = nullptr);

}  // namespace meshfuse
