// The node that changes how one value lies on one mesh axis. It is no op of the language; the sharding pass inserts it.
#pragma once

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// The descriptor of `reshard(tensor, axis)`: the output's type carries the target sharding, which differs from the
/// operand's on mesh axis `axis` alone. One of: Partial→Replicate (all-reduce), Shard→Replicate (all-gather),
/// Partial→Shard (reduce-scatter), Replicate→Shard (local slice), Replicate→Partial (local: kept by coordinate 0 for sums).
const OpDescriptor& reshardOp();
inline bool isReshard(const Expr& expr) { return expr.op == &reshardOp(); }

}  // namespace meshfuse
