#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/reduction_eval.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::sum {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  const PrimType dtype = call.fusion->val(call.expr->outputs.front()).dtype();
  const Ints& dims = std::get<Ints>(args[1]);
  const bool keepdim = std::get<Scalar>(args[2]).toBool();
  const auto [once, repeats] = withoutRepeats(call.tensor(0), dims);
  if (repeats == 1 && !at::isFloat8Type(torchDtype(dtype))) {
    return {at::sum(once, dims, keepdim, torchDtype(dtype))};
  }
  // Rounded once, to the result's type.
  const at::ScalarType compute =
      at::isReducedFloatingType(torchDtype(dtype)) ? at::kFloat : torchDtype(dtype);
  return {at::sum(once, dims, keepdim, compute).mul_(repeats).to(torchDtype(dtype))};
}

}  // namespace meshfuse::ops::sum
