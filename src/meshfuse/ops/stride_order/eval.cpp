#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::stride_order {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& order = std::get<Ints>(call.expr->args[1]);
  const at::Tensor arg = call.tensor(0);
  if (order.empty()) {
    return {at::clone(arg)};
  }
  const auto rank = static_cast<int64_t>(order.size());
  Ints outermostFirst(order.size());
  Ints back(order.size());
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t place = rank - 1 - order[static_cast<size_t>(dim)];
    outermostFirst[static_cast<size_t>(place)] = dim;
    back[static_cast<size_t>(dim)] = place;
  }
  const at::Tensor copy = arg.permute(outermostFirst).clone(at::MemoryFormat::Contiguous);
  return {copy.permute(back)};
}

}  // namespace meshfuse::ops::stride_order
