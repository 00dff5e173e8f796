// Dividing a fusion into kernels, library calls and collectives.
#pragma once

#include <vector>

#include "meshfuse/scheduling/cost_model.h"
#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// The groups of a fusion whose extents are constants and whose shardings are settled, in an order in which each runs after
/// those whose values it reads. Calls that no result needs are in none.
///
/// A call joins the kernels that make its operands where all their loops can be one nest: elementwise calls over the same
/// dimensions, reductions of what they make over the same loops, and what follows in the rows that were reduced. Calls that read
/// the same tensors with the same loops share a kernel too. Loops are found through dimension maps; nothing but the equality of
/// extents depends on sizes, 1 included. Time is nearly linear in the number of calls.
std::vector<Group> segment(const Fusion& fusion, const CostModel& costs = {});

}  // namespace meshfuse
