#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::pad {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Scalar value = !call.has(2)                      ? at::Scalar(0)
                           : call.values[2].is<at::Tensor>() ? call.values[2].asTensor().item()
                                                             : toAtenScalar(call.values[2]);
  return {at::constant_pad_nd(call.tensor(0), std::get<Ints>(call.expr->args[1]), value)};
}

}  // namespace meshfuse::ops::pad
