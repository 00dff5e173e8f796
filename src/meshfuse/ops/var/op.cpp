#include "meshfuse/ops/var/op.h"

#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::var {

namespace {

/// Halves and smaller floats are computed in Float, whole numbers and bools in Double.
std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  if (isIntegralOrBool(categoryOf(type))) {
    return {PrimType::Double};
  }
  return {isReducedFloat(type) ? PrimType::Float : type};
}

}  // namespace

OpInfo info() {
  OpInfo op =
      varianceRecord("var",
                     "Variance over dims, dividing by max(N - correction, 0); integers give "
                     "Double; complex deviations are "
                     "squared, not multiplied by their conjugates as in var_mean; torch.var");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeVariance("var", fusion, args);
  };
  op.dtypes = dtypes;
  return op;
}

}  // namespace meshfuse::ops::var
