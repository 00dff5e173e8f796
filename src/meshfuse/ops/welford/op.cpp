#include "meshfuse/ops/welford/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::welford {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  if (isIntegralOrBool(categoryOf(tensorArg(fusion, args[0]).dtype))) {
    throwUser(ErrorKind::Runtime,
              {"welford", "averages have the operand's dtype, so it is floating or complex",
               "got " + describe(fusion, args[0]), "cast it to DataType.Float or Double first"});
  }
  normalizeReductionDims("welford", fusion, args);
}

std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  return {type, type, PrimType::Int};
}

DimMap dimMap(const OpCall& call) {
  return reductionDimMap(call, /*keepdim=*/false, FactorRole::Opaque, ReduceKind::Sum);
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, Ints dims) {
    return sampleOf({std::move(sizes)}, {{}, std::move(dims)}, {0});
  };
  return {sample({6, 4}, {1}), sample({6, 4}, {0, 1}), sample({2, 3, 4}, {0, -1}),
          sample({5, 3}, {0}), sample({1, 4}, {0}),    sample({0, 6}, {0})};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "welford",
      "Average, sum of squared deviations from it, and number of elements over dims, all zero "
      "without elements; "
      "torch.var_mean times that number",
      {{"arg", ParamKind::Tensor}, {"dims", ParamKind::Ints}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.outputCount = 3;
  return op;
}

}  // namespace meshfuse::ops::welford
