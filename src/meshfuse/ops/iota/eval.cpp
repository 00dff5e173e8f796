#include <limits>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/ops/iota/op.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::iota {

namespace {

/// Numbers that Int32 does not hold would wrap.
void checkFit(const Scalar& start, const Scalar& step, int64_t length) {
  const auto fits = [](__int128 number) {
    return number >= std::numeric_limits<int32_t>::min() &&
           number <= std::numeric_limits<int32_t>::max();
  };
  const __int128 last = start.toInt() + static_cast<__int128>(step.toInt()) * (length - 1);
  if (length > 0 && (!fits(start.toInt()) || !fits(last))) {
    throwUser(ErrorKind::Runtime, {"iota", "the numbers are ones of dtype",
                                   "got " + std::to_string(length) + " from " + start.toText() +
                                       " by " + step.toText() + ", which Int32 does not hold",
                                   "pass dtype=DataType.Int"});
  }
}

}  // namespace

/// start + i * step, in int64 or double, then rounded once.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  checkNumbers(toScalar(call.values[1]), toScalar(call.values[2]));
  const int64_t length = call.outputSizes[0][0];
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  if (dtype == at::kInt) {
    checkFit(toScalar(call.values[1]), toScalar(call.values[2]), length);
  }
  const at::ScalarType wide =
      at::isIntegralType(dtype, /*includeBool=*/false) ? at::kLong : at::kDouble;
  const at::Tensor index = at::arange(length, at::TensorOptions(wide).device(call.device));
  const at::Tensor step = toTensor(call.values[2], call.device).to(wide);
  const at::Tensor start = toTensor(call.values[1], call.device).to(wide);
  return {at::add(at::mul(index, step), start).to(dtype)};
}

}  // namespace meshfuse::ops::iota
