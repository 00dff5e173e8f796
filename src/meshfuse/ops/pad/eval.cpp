#include <algorithm>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::pad {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor input = call.tensor(0);
  const at::Tensor value = call.has(2)
                               ? toTensor(call.values[2], input.device()).to(input.scalar_type())
                               : at::zeros({}, input.options());
  // By copying, so that a value that is a tensor stays on its device.
  at::Tensor result = value.expand(call.outputSizes[0]).clone(at::MemoryFormat::Contiguous);
  at::Tensor from = input;
  at::Tensor to = result;
  const Ints& widths = std::get<Ints>(call.expr->args[1]);
  for (size_t pair = 0; pair < widths.size() / 2; ++pair) {
    const int64_t dim = input.dim() - 1 - static_cast<int64_t>(pair);
    const int64_t front = widths[2 * pair];
    const int64_t back = widths[2 * pair + 1];
    const int64_t begin = std::max<int64_t>(-front, 0);
    const int64_t end = input.size(dim) - std::max<int64_t>(-back, 0);
    from = from.slice(dim, begin, std::max(begin, end));
    to = to.narrow(dim, std::max<int64_t>(front, 0), from.size(dim));
  }
  to.copy_(from);
  return {result};
}

}  // namespace meshfuse::ops::pad
