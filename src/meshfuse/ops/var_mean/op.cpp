#include "meshfuse/ops/var_mean/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::var_mean {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  if (intArg(args[2]) < 0) {
    throwUser(ErrorKind::Runtime, {"var_mean", "correction must not be negative",
                                   "got " + std::to_string(intArg(args[2])), "use 0, 1 or more"});
  }
  const PrimType type = tensorArg(fusion, args[0]).dtype;
  const bool isWide = categoryOf(type) == TypeCategory::Complex || type == PrimType::Float ||
                      type == PrimType::Double;
  if (!isWide) {
    throwUser(ErrorKind::Runtime,
              {"var_mean", "the operand is Float, Double or complex",
               "got " + describe(fusion, args[0]), "upcast it to DataType.Float first"});
  }
  normalizeReductionDims("var_mean", fusion, args);
}

std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  return {realTypeOf(type), type};
}

/// The deviations need the mean of all elements, so reduced dimensions are whole on every rank.
DimMap dimMap(const OpCall& call) {
  return reductionDimMap(call, boolArg(call.args[3]), FactorRole::Opaque, ReduceKind::Sum, 2);
}

Algebra algebra(const OpCall& /*call*/) { return Algebra::NonLinear; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims, int64_t correction, bool keepdim) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims), Scalar(correction), Scalar(keepdim)},
                    {0});
  };
  return {sample({6, 4}, {1}, 0, true), sample({6, 4}, {0}, 1, false),
          sample({2, 3, 4}, {0, -1}, 1, true), sample({5, 3}, {1}, 3, false)};
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "var_mean";
  op.params = {{"arg", ParamKind::Tensor},
               {"dims", ParamKind::Ints},
               {"correction", ParamKind::Int, true, Scalar(1)},
               {"keepdim", ParamKind::Bool, true, Scalar(false)}};
  op.overloads = {{op.params}};
  op.outputCount = 2;
  op.doc = "Variance and mean over dims, dividing by max(N - correction, 0); torch.var_mean";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::var_mean
