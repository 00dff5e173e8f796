#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::max {

namespace {

/// What no element is smaller than: the result over no elements at all.
at::Scalar identity(at::ScalarType dtype) {
  if (dtype == at::kBool) {
    return false;
  }
  if (dtype == at::kLong) {
    return std::numeric_limits<int64_t>::lowest();
  }
  if (dtype == at::kInt) {
    return std::numeric_limits<int32_t>::lowest();
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const Ints& dims = std::get<Ints>(call.expr->args[1]);
  const at::Tensor arg = call.tensor(0);
  const auto isEmpty = [&arg](int64_t dim) { return arg.size(dim) == 0; };
  if (arg.dim() != 0 && std::ranges::any_of(dims, isEmpty)) {
    return {at::full(call.outputSizes[0], identity(arg.scalar_type()), arg.options())};
  }
  return {at::amax(arg, dims, std::get<Scalar>(call.expr->args[2]).toBool())};
}

}  // namespace meshfuse::ops::max
