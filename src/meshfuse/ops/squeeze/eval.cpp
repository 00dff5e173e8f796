#include <algorithm>
#include <functional>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::squeeze {

/// A view.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  Ints dims = std::get<Ints>(call.expr->args[1]);
  std::ranges::sort(dims, std::greater<>());
  at::Tensor view = call.tensor(0);
  for (int64_t dim : dims) {
    // All elements of an expanded dimension are the first one.
    view = view.select(dim, 0);
  }
  return {view};
}

}  // namespace meshfuse::ops::squeeze
