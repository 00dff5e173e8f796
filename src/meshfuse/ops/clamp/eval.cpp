#include <optional>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/ops/clamp/op.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::clamp {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const PrimType dtype = call.fusion->val(call.expr->outputs.front()).dtype();
  const auto bound = [&](size_t arg) {
    // Rounded as an element first: torch refuses a number beyond the type's range, which is infinite in it.
    const Scalar number = boundIn(dtype, toScalar(call.values[arg]));
    return std::optional(toTensor(number).to(torchDtype(dtype)).item());
  };
  if (dtype == PrimType::Bool) {
    // torch's result would be a whole number.
    return {at::clamp(call.tensor(0).to(at::kByte), bound(1), bound(2)).to(at::kBool)};
  }
  return {at::clamp(call.tensor(0), bound(1), bound(2))};
}

}  // namespace meshfuse::ops::clamp
