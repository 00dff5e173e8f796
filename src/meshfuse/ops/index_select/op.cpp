#include "meshfuse/ops/index_select/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::index_select {

namespace {

/// Whether `index` has the operand's rank and is a broadcast in every dimension but `dim`.
bool isAligned(const TensorType& index, int64_t rank, int64_t dim) {
  if (index.rank() != rank) {
    return false;
  }
  for (int64_t other = 0; other < rank; ++other) {
    if (other != dim && !stretches(index.domain[static_cast<size_t>(other)])) {
      return false;
    }
  }
  return true;
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const int64_t dim = wrapDim("index_select", intArg(args[2]), rank);
  checkIndexDtype("index_select", fusion, args[1]);
  const TensorType& index = tensorArg(fusion, args[1]);
  if (index.rank() > 1 && !isAligned(index, rank, dim)) {
    throwUser(
        ErrorKind::Runtime,
        {"index_select", "an index has one dimension, or the operand's rank and size 1 but at dim",
         "got " + describe(fusion, args[1]) + " for " + describe(fusion, args[0]),
         "use take_along_axis for an index of several dimensions"});
  }
  args[2] = Scalar(dim);
}

DimMap dimMap(const OpCall& call) {
  const int64_t selected = intArg(call.args[2]);
  const int64_t indexRank = call.tensors[1].rank();
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.inputs.emplace_back(call.tensors[1].domain.size());
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    if (dim != selected) {
      map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
      continue;
    }
    ownDim(map, call.tensors, 0, dim, FactorRole::Opaque);
    map.outputs[0].push_back(
        indexRank == 0 ? DimFactors{} : ownDim(map, call.tensors, 1, indexRank == 1 ? 0 : dim));
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, std::vector<int64_t> index, int64_t dim) {
    const int64_t bound = sizes[static_cast<size_t>(dim)];
    return indexSample(std::move(sizes), std::move(index), bound, {{}, {}, Scalar(dim)});
  };
  return {sample({4, 6}, {6}, 0), sample({6, 5}, {3}, 1), sample({2, 3, 4}, {}, 1),
          sample({6, 4}, {1, 12}, 1), sample({6}, {1}, 0)};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "index_select", "The operand's slices at positions index of dim; torch.index_select",
      {{"arg", ParamKind::Tensor}, {"index", ParamKind::Tensor}, {"dim", ParamKind::Int}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::LinearInFirst>, samples});
}

}  // namespace meshfuse::ops::index_select
