#include "meshfuse/evaluator/reshard_eval.h"

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/mesh/shard_arithmetic.h"

namespace meshfuse {

namespace {

/// The chunk of `local` that coordinate `index` of `count` keeps.
at::Tensor chunkOf(const at::Tensor& local, int64_t dim, int64_t count, int64_t index) {
  const IndexRange range = chunkRange(local.size(dim), count, index);
  return local.narrow(dim, range.begin, range.size());
}

/// What coordinate `index` contributes so that the contributions combine to `local`.
at::Tensor termOf(const at::Tensor& local, ReduceKind kind, int64_t index) {
  if (index == 0) {
    return local;
  }
  switch (kind) {
    case ReduceKind::Sum:
      return at::zeros_like(local);
    case ReduceKind::Product:
      return at::ones_like(local);
    case ReduceKind::Avg:
    case ReduceKind::Max:
    case ReduceKind::Min:
      return local;
  }
  throwInternal("the reduction is one of the list");
}

at::Tensor changeLocally(const Resharding& resharding, const at::Tensor& local, int64_t rank) {
  const DeviceMesh& mesh = resharding.to.mesh;
  const int64_t index =
      (*mesh.coordinateOf(mesh.rankAtLinear(rank)))[static_cast<size_t>(resharding.axis)];
  const Placement& to = resharding.to.placements[static_cast<size_t>(resharding.axis)];
  return to.isPartial() ? termOf(local, to.reduce, index)
                        : chunkOf(local, to.dim, mesh.size(resharding.axis), index);
}

}  // namespace

std::string_view collectiveOf(const Placement& from, const Placement& to) {
  if (from.isPartial()) {
    return to.isReplicate() ? "all_reduce" : "reduce_scatter";
  }
  return from.isSharded() ? "all_gather" : "";
}

LocalTensors evaluateResharding(const Resharding& resharding, std::span<const int64_t> ranks,
                                const LocalTensors& locals, const Collectives* collectives) {
  const auto axis = static_cast<size_t>(resharding.axis);
  const Placement& from = resharding.from.placements[axis];
  const Placement& to = resharding.to.placements[axis];
  const std::string_view collective = collectiveOf(from, to);
  if (collective.empty()) {
    LocalTensors results;
    for (size_t i = 0; i < locals.size(); ++i) {
      results.push_back(changeLocally(resharding, locals[i], ranks[i]));
    }
    return results;
  }
  internalCheck(collectives != nullptr, "a program that communicates is given collectives");
  CollectiveSpec spec{&resharding.to.mesh, resharding.axis, from.isPartial() ? to.dim : from.dim,
                      from.reduce};
  if (collective == "all_gather") {
    return collectives->allGather(spec, locals);
  }
  return collective == "all_reduce" ? collectives->allReduce(spec, locals)
                                    : collectives->reduceScatter(spec, locals);
}

}  // namespace meshfuse
