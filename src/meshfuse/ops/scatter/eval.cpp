#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::scatter {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor arg = call.tensor(0);
  const int64_t dim = std::get<Scalar>(call.expr->args[3]).toInt();
  const at::Tensor index = checkedIndex("scatter", call.tensor(1), dim, arg.size(dim));
  if (isScalar(call.values[2])) {
    return {at::scatter(arg, dim, index, toAtenScalar(call.values[2]))};
  }
  return {at::scatter(arg, dim, index, call.tensor(2))};
}

}  // namespace meshfuse::ops::scatter
