// What is legal in what the scheduling passes give.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "meshfuse/scheduling/group.h"
#include "meshfuse/scheduling/schedule.h"

namespace meshfuse {

/// Every rule that the groups of a fusion break, in words. The rules: a group reads what is an input, a constant, made before in it,
/// or given by a group before; every result and every other value is given once; a call is once in a group, and one that draws
/// random numbers in one group; others than kernels have one call; the loops of a call in a kernel are loops of the group, none
/// of them twice in a tensor.
std::vector<std::string> groupViolations(const Fusion& fusion, std::span<const Group> groups);

/// Every rule that the schedule of a nest breaks, in words. The rules: each loop of the nest runs once, a reduced one where
/// reductions run; extents and strides are those of its loops; blocks, tiles and parts cover all elements; each number of
/// iterations is positive where there are elements.
std::vector<std::string> scheduleViolations(const Nest& nest, const Schedule& schedule);

}  // namespace meshfuse
