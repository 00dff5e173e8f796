#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::slice {

/// A view. Bounds beyond a shard's size occur only where all of the dimension is taken.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& starts = std::get<Ints>(call.expr->args[1]);
  const Ints& ends = std::get<Ints>(call.expr->args[2]);
  at::Tensor view = call.tensor(0);
  for (size_t dim = 0; dim < starts.size(); ++dim) {
    view = at::slice(view, static_cast<int64_t>(dim), starts[dim], ends[dim]);
  }
  return {view};
}

}  // namespace meshfuse::ops::slice
