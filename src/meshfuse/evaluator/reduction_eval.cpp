#include "meshfuse/evaluator/reduction_eval.h"

#include <limits>

#include <ATen/ATen.h>

namespace meshfuse {

namespace {

template <class T>
at::Scalar limitOf(bool isMax) {
  return isMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
}

/// What max (or min) over no elements is: no element is smaller (or larger).
at::Scalar identityOf(at::ScalarType dtype, bool isMax) {
  switch (dtype) {
    case at::kBool:
      return !isMax;
    case at::kLong:
      return limitOf<int64_t>(isMax);
    case at::kInt:
      return limitOf<int32_t>(isMax);
    default:
      return isMax ? -std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::infinity();
  }
}

}  // namespace

at::Tensor extremum(const EvalCall& call, ReduceKind kind) {
  const bool isMax = kind == ReduceKind::Max;
  const Ints& dims = std::get<Ints>(call.expr->args[1]);
  const bool keepdim = std::get<Scalar>(call.expr->args[2]).toBool();
  const at::Tensor arg = call.tensor(0);
  if (reducedCount(arg, dims) == 0) {
    return at::full(call.outputSizes[0], identityOf(arg.scalar_type(), isMax), arg.options());
  }
  const at::Tensor once = withoutRepeats(arg, dims).arg;
  return isMax ? at::amax(once, dims, keepdim) : at::amin(once, dims, keepdim);
}

WithoutRepeats withoutRepeats(const at::Tensor& arg, const Ints& dims) {
  WithoutRepeats result{arg, 1};
  for (const int64_t dim : dims) {
    if (arg.dim() != 0 && arg.size(dim) > 1 && arg.stride(dim) == 0) {
      result.arg = result.arg.narrow(dim, 0, 1);
      result.repeats *= arg.size(dim);
    }
  }
  return result;
}

int64_t reducedCount(const at::Tensor& arg, const Ints& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    count *= arg.dim() == 0 ? 1 : arg.size(dim);
  }
  return count;
}

at::Tensor squaredDeviations(const at::Tensor& arg, const Ints& dims, bool keepdim) {
  const at::Tensor deviations = arg - at::mean(arg, dims, /*keepdim=*/true);
  return at::sum(deviations * deviations, dims, keepdim);
}

}  // namespace meshfuse
