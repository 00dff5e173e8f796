#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::cast {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const auto type = std::get<PrimType>(call.expr->args[1]);
  const at::Tensor arg = call.tensor(0);
  if (type == PrimType::Float4_e2m1fn) {
    return {roundToFloat4(arg)};
  }
  const at::ScalarType dtype = torchDtype(type);
  const bool dropsImaginary = arg.is_complex() && !at::isComplexType(dtype) && dtype != at::kBool;
  return {at::_to_copy(dropsImaginary ? at::real(arg) : arg, dtype)};
}

}  // namespace meshfuse::ops::cast
