#include "meshfuse/ops/var_mean/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::var_mean {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const PrimType type = tensorArg(fusion, args[0]).dtype;
  const bool isWide = categoryOf(type) == TypeCategory::Complex || type == PrimType::Float ||
                      type == PrimType::Double;
  if (!isWide) {
    throwUser(ErrorKind::Runtime,
              {"var_mean", "the operand is Float, Double or complex",
               "got " + describe(fusion, args[0]), "upcast it to DataType.Float first"});
  }
  normalizeVariance("var_mean", fusion, args);
}

std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  return {realTypeOf(type), type};
}

}  // namespace

OpInfo info() {
  OpInfo op = varianceRecord(
      "var_mean",
      "Variance and mean over dims, dividing by max(N - correction, 0); torch.var_mean");
  op.outputCount = 2;
  op.normalize = normalize;
  op.dtypes = dtypes;
  return op;
}

}  // namespace meshfuse::ops::var_mean
