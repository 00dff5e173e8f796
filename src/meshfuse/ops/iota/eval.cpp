#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/ops/iota/op.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::iota {

/// start + i * step, in int64 or double, then rounded once.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  checkNumbers(toScalar(call.values[1]), toScalar(call.values[2]));
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  const at::ScalarType wide =
      at::isIntegralType(dtype, /*includeBool=*/false) ? at::kLong : at::kDouble;
  const at::Tensor index =
      at::arange(call.outputSizes[0][0], at::TensorOptions(wide).device(call.device));
  const at::Tensor step = toTensor(call.values[2], call.device).to(wide);
  const at::Tensor start = toTensor(call.values[1], call.device).to(wide);
  return {at::add(at::mul(index, step), start).to(dtype)};
}

}  // namespace meshfuse::ops::iota
