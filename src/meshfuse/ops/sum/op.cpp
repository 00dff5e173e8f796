#include "meshfuse/ops/sum/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::sum {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  normalizeReductionDims("sum", fusion, args);
}

/// Whole numbers and bools are summed in Int; other types keep theirs unless a dtype is given.
std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType given = std::get<PrimType>(call.args[3]);
  if (given != PrimType::Null) {
    return {given};
  }
  const PrimType type = call.tensors[0].dtype;
  return {isIntegralOrBool(categoryOf(type)) ? PrimType::Int : type};
}

DimMap dimMap(const OpCall& call) {
  return reductionDimMap(call, boolArg(call.args[2]), FactorRole::Reduced, ReduceKind::Sum, 1);
}

/// The operand is cast to the result's type first; that cast must distribute over a sum for the whole to do so.
Algebra algebra(const OpCall& call) {
  const PrimType from = call.tensors[0].dtype;
  return dtypes(call).front() == from ? Algebra::Linear : Algebra::NonLinear;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) { return reductionSamples(); }

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "sum";
  setReductionParams(op);
  op.doc = "Sum over dims; bools and integers are summed in Int; torch.sum";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::sum
