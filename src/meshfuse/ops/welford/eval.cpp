#include <ATen/ATen.h>

#include "meshfuse/evaluator/reduction_eval.h"

namespace meshfuse::ops::welford {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& dims = std::get<Ints>(call.expr->args[1]);
  const at::Tensor arg = call.tensor(0);
  const int64_t count = reducedCount(arg, dims);
  const at::Tensor counts = at::full(call.outputSizes[2], count, arg.options().dtype(at::kLong));
  if (count == 0) {
    const at::Tensor zeros = at::zeros(call.outputSizes[0], arg.options());
    return {zeros, zeros.clone(), counts};
  }
  const bool isReduced = arg.is_floating_point() && arg.element_size() < 4;
  const at::Tensor wide = isReduced ? arg.to(at::kFloat) : arg;
  return {at::mean(wide, dims).to(arg.scalar_type()),
          squaredDeviations(wide, dims, /*keepdim=*/false).to(arg.scalar_type()), counts};
}

}  // namespace meshfuse::ops::welford
