#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::broadcast {

/// A view.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& flags = std::get<Ints>(call.expr->args[1]);
  at::Tensor view = call.tensor(0);
  for (size_t dim = 0; dim < flags.size(); ++dim) {
    if (flags[dim] != 0) {
      view = view.unsqueeze(static_cast<int64_t>(dim));
    }
  }
  return {view};
}

}  // namespace meshfuse::ops::broadcast
