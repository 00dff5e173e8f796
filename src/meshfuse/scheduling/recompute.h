// Values that are cheaper to compute again than to write and read.
#pragma once

#include <vector>

#include "meshfuse/scheduling/group_edges.h"

namespace meshfuse {

/// The groups of segment(), where each kernel that reads a value computes it itself if all of them can and that costs less than
/// moving it through memory: a few elementwise calls on what a reader reads anyway, or on tensors of the value's own size. What was
/// computed for that alone is computed no more, and neither are groups that gave nothing else. It depends on types and loops,
/// not on sizes. Numbers of results don't change.
std::vector<Group> recompute(const Fusion& fusion, std::vector<Group> groups,
                             const CostModel& costs, Reasons reasons = nullptr);

}  // namespace meshfuse
