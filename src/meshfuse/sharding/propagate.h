// Chooses a sharding for every value from the inputs' shardings, inserting reshardings where an op needs them.
#pragma once

#include <span>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// `concrete` has constant extents (ops/concretize.h); `inputs` is aligned with its inputs (none for scalars). All
/// shardings are on one mesh. Returns a fusion in which every tensor carries a sharding and every change of placement is a
/// `reshard` call; values that are written into inputs lie as those do. Throws UserError(Runtime) naming op, operand,
/// placement and way out where a value would need a change that cannot be done (an uneven gather, say); never gives a program
/// that computes something else.
Fusion propagateShardings(const Fusion& concrete, std::span<const ShardingId> inputs);

}  // namespace meshfuse
