// All ranks of a mesh in one process: the collectives as plain functions over every rank's tensor.
#pragma once

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

/// Collectives over `mesh`, all of whose ranks are hosted here.
Collectives simulatedCollectives(const DeviceMesh& mesh);

/// The locals of every rank of a global tensor. Partial placements are filled with terms that combine to the tensor.
LocalTensors shardOverRanks(const at::Tensor& global, const Sharding& sharding);

/// The global tensor behind the locals of every rank, checking that replicas agree bit for bit (UserError otherwise).
at::Tensor gatherFromRanks(const LocalTensors& locals, const Sharding& sharding,
                           std::span<const int64_t> globalSizes);

}  // namespace meshfuse
