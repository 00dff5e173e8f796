#include "meshfuse/ops/matmul/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::matmul {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  for (const Arg& arg : args) {
    if (tensorArg(fusion, arg).rank() == 0) {
      throwUser(ErrorKind::Runtime, {"matmul", "operands have at least one dimension",
                                     "got " + describe(fusion, arg), "use mul for 0-d tensors"});
    }
  }
}

std::vector<PrimType> dtypes(const OpCall& call) {
  checkSameDtype("matmul", call.tensors);
  checkProductType("matmul", call.tensors[0].dtype);
  return {call.tensors[0].dtype};
}

/// Batch dimensions pair right-aligned, as in elementwise ops; an operand with more of them keeps its own.
void mapBatch(DimMap& map, const OpCall& call, int64_t batchA, int64_t batchB) {
  const int64_t batch = std::max(batchA, batchB);
  for (int64_t position = 0; position < batch; ++position) {
    const int64_t dimA = position - (batch - batchA);
    const int64_t dimB = position - (batch - batchB);
    if (dimA < 0 || dimB < 0) {
      map.outputs[0].push_back(dimA < 0 ? ownDim(map, call.tensors, 1, dimB)
                                        : ownDim(map, call.tensors, 0, dimA));
    } else {
      map.outputs[0].push_back(pairDims(map, call.tensors, 0, dimA, 1, dimB, FactorRole::Parallel,
                                        "matmul", "batch dimension " + std::to_string(position)));
    }
  }
}

DimMap dimMap(const OpCall& call) {
  const int64_t rankA = call.tensors[0].rank();
  const int64_t rankB = call.tensors[1].rank();
  DimMap map;
  map.inputs = {std::vector<DimFactors>(static_cast<size_t>(rankA)),
                std::vector<DimFactors>(static_cast<size_t>(rankB))};
  map.outputs.emplace_back();
  mapBatch(map, call, std::max<int64_t>(rankA - 2, 0), std::max<int64_t>(rankB - 2, 0));
  if (rankA > 1) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 0, rankA - 2));
  }
  if (rankB > 1) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 1, rankB - 1));
  }
  pairDims(map, call.tensors, 0, rankA - 1, 1, rankB > 1 ? rankB - 2 : 0, FactorRole::Reduced,
           "matmul", "the contracted dimension");
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> a, std::vector<int64_t> b) {
    return sampleOf({std::move(a), std::move(b)}, {{}, {}}, {0, 1});
  };
  return {sample({4, 6}, {6, 2}), sample({2, 4, 6}, {6, 4}), sample({2, 3, 4}, {2, 4, 6}),
          sample({6}, {6, 4}),    sample({4, 6}, {6}),       sample({3, 5}, {5, 3}),
          sample({6}, {6})};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "matmul", "Matrix product with broadcast batch dimensions; vectors contract; torch.matmul",
      {{"arg1", ParamKind::Tensor}, {"arg2", ParamKind::Tensor}},
      {normalize, dtypes, dimMap, always<Algebra::Multilinear>, samples});
}

}  // namespace meshfuse::ops::matmul
