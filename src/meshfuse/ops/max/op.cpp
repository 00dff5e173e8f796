#include "meshfuse/ops/max/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::max {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  if (std::get<PrimType>(args[3]) != PrimType::Null) {
    throwUser(ErrorKind::Runtime,
              {"max", "the result has the operand's dtype",
               "got dtype DataType." + std::string(nameOf(std::get<PrimType>(args[3]))),
               "cast the operand or the result instead"});
  }
  const PrimType type = tensorArg(fusion, args[0]).dtype;
  if (categoryOf(type) == TypeCategory::Complex) {
    throwUser(ErrorKind::Runtime, {"max", "complex numbers have no order",
                                   "got " + describe(fusion, args[0]), "reduce a real tensor"});
  }
  normalizeReductionDims("max", fusion, args);
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype}; }

DimMap dimMap(const OpCall& call) {
  return reductionDimMap(call, boolArg(call.args[2]), FactorRole::Reduced, ReduceKind::Max, 1);
}

Algebra algebra(const OpCall& /*call*/) { return Algebra::MaxReduction; }

std::vector<OpSample> samples(const OpInfo& /*op*/) { return reductionSamples(); }

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "max";
  setReductionParams(op);
  op.doc = "Largest element over dims, NaN if there is one; torch.amax";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::max
