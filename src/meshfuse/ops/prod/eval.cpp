#include <algorithm>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::prod {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  const at::Tensor arg = call.tensor(0);
  if (arg.dim() == 0) {
    return {at::_to_copy(arg, dtype)};
  }
  // torch multiplies along one dimension: the reduced ones are made one, so that halves, multiplied as floats, are rounded once.
  const Ints& dims = std::get<Ints>(args[1]);
  Ints order;
  for (int64_t dim = 0; dim < arg.dim(); ++dim) {
    if (std::ranges::find(dims, dim) == dims.end()) {
      order.push_back(dim);
    }
  }
  const auto kept = static_cast<int64_t>(order.size());
  order.insert(order.end(), dims.begin(), dims.end());
  const at::Tensor flat = arg.permute(order).flatten(kept);
  const at::ScalarType compute = at::isReducedFloatingType(dtype) ? at::kFloat : dtype;
  return {at::prod(flat, kept, /*keepdim=*/false, compute).reshape(call.outputSizes[0]).to(dtype)};
}

}  // namespace meshfuse::ops::prod
