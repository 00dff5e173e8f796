#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::pad {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Scalar value = call.has(2) ? toAtenScalar(call.values[2]) : at::Scalar(0);
  return {at::constant_pad_nd(call.tensor(0), std::get<Ints>(call.expr->args[1]), value)};
}

}  // namespace meshfuse::ops::pad
