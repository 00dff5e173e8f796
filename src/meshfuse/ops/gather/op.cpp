#include "meshfuse/ops/gather/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"

namespace meshfuse::ops::gather {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkIndexDtype("gather", fusion, args[1]);
  checkSameRank("gather", fusion, {args.data(), 2});
  args[2] = Scalar(wrapDim("gather", intArg(args[2]), tensorArg(fusion, args[0]).rank()));
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype}; }

DimMap dimMap(const OpCall& call) {
  const int64_t gathered = intArg(call.args[2]);
  DimMap map;
  map.inputs.assign(2, std::vector<DimFactors>(call.tensors[0].domain.size()));
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    if (dim == gathered) {
      ownDim(map, call.tensors, 0, dim, FactorRole::Opaque);
      map.outputs[0].push_back(ownDim(map, call.tensors, 1, dim));
    } else {
      map.outputs[0].push_back(pairLeadingPart(map, call.tensors, 0, 1, dim, "gather"));
    }
  }
  return map;
}

Algebra algebra(const OpCall& /*call*/) { return Algebra::LinearInFirst; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, std::vector<int64_t> index, int64_t dim) {
    const int64_t bound = sizes[static_cast<size_t>(dim)];
    return indexSample(std::move(sizes), std::move(index), bound, {{}, {}, Scalar(dim)});
  };
  return {sample({4, 6}, {6, 6}, 0), sample({6, 5}, {6, 12}, 1), sample({6, 4}, {2, 3}, 0),
          sample({5, 3}, {5, 1}, 1)};
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "gather";
  op.params = {{"arg", ParamKind::Tensor}, {"index", ParamKind::Tensor}, {"dim", ParamKind::Int}};
  op.overloads = {{op.params}};
  op.doc =
      "For each element of index the operand's element at that position of dim; the index may be "
      "smaller in other dims; torch.gather";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::gather
