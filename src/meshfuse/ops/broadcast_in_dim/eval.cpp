#include <algorithm>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::broadcast_in_dim {

/// A view: new dimensions have stride 0.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& dims = std::get<Ints>(call.expr->args[2]);
  at::Tensor view = call.tensor(0);
  for (size_t position = 0; position < call.outputSizes[0].size(); ++position) {
    if (std::ranges::find(dims, static_cast<int64_t>(position)) == dims.end()) {
      view = view.unsqueeze(static_cast<int64_t>(position));
    }
  }
  return {view.expand(call.outputSizes[0])};
}

}  // namespace meshfuse::ops::broadcast_in_dim
