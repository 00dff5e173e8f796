#include <algorithm>
#include <optional>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/reduction_eval.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::var {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  const Ints& dims = std::get<Ints>(args[1]);
  const int64_t correction = std::get<Scalar>(args[2]).toInt();
  const bool keepdim = std::get<Scalar>(args[3]).toBool();
  const at::Tensor arg =
      call.tensor(0).to(torchDtype(call.fusion->val(call.expr->outputs.front()).dtype()));
  if (!arg.is_complex()) {
    // Spelled out: a plain integer would choose the overload whose second number is a bool.
    return {at::var(arg, dims, std::optional<at::Scalar>(correction), keepdim)};
  }
  const int64_t freedom = std::max<int64_t>(reducedCount(arg, dims) - correction, 0);
  return {squaredDeviations(arg, dims, keepdim) / static_cast<double>(freedom)};
}

}  // namespace meshfuse::ops::var
