// Small kernels that have nothing to do with each other, in one launch.
#pragma once

#include <vector>

#include "meshfuse/scheduling/group_edges.h"

namespace meshfuse {

/// The groups, where elementwise kernels of the same loops that don't need one another are one kernel if each is so small that
/// launching it counts (CostModel::maxMergedLaunches). It runs where the first of them did. Reductions stay by themselves, as
/// the order that they take their elements in may not depend on what else there is; so do kernels that may throw, whose order
/// decides which error comes first.
std::vector<Group> mergeKernels(const Fusion& fusion, std::vector<Group> groups,
                                const CostModel& costs, Reasons reasons = nullptr);

}  // namespace meshfuse
