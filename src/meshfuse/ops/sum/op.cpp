#include "meshfuse/ops/sum/op.h"

#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::sum {

namespace {

/// The operand is cast to the result's type first; that cast must distribute over a sum for the whole to do so.
Algebra algebra(const OpCall& call) {
  const PrimType from = call.tensors[0].dtype;
  return accumulationDtypes(call).front() == from ? Algebra::Linear : Algebra::NonLinear;
}

}  // namespace

OpInfo info() {
  OpInfo op =
      reductionRecord("sum", "Sum over dims; bools and integers are summed in Int; torch.sum");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeReductionDims("sum", fusion, args);
  };
  op.dtypes = accumulationDtypes;
  op.dimMap = [](const OpCall& call) { return reductionDimMap(call, ReduceKind::Sum); };
  op.algebra = algebra;
  return op;
}

}  // namespace meshfuse::ops::sum
