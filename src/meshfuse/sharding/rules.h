// Which placements one op accepts on one mesh axis, from its dimension map and its algebra.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/mesh/placement.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// One way to run an op on a mesh axis without communication: each rank computes on its locals, and the results have the
/// output placements.
struct ShardingRule {
  std::vector<Placement> inputs;
  std::vector<Placement> outputs;
  /// The factor of the dimension map that this rule shards; -1 for rules that shard none.
  int32_t factor = -1;
  bool operator==(const ShardingRule&) const = default;
};

/// Every rule of a call, the all-replicated one first. `current` are the operands' placements on the axis: they decide
/// which strided shards and which kinds of partial values are considered.
std::vector<ShardingRule> shardingRules(const OpCall& call, const DimMap& map,
                                        std::span<const Placement> current);

}  // namespace meshfuse
