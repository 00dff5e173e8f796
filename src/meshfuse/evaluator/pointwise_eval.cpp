#include "meshfuse/evaluator/pointwise_eval.h"

#include <array>
#include <limits>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/pointwise_functions.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

using namespace pointwise_functions;  // NOLINT(google-build-using-namespace): the table's vocabulary

using RowFunction = at::Tensor (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                   const at::Tensor&);

constexpr std::array kRowFunctions{
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, device, doc)     \
  static_cast<RowFunction>(                                                            \
      []([[maybe_unused]] const at::Tensor& x0, [[maybe_unused]] const at::Tensor& x1, \
         [[maybe_unused]] const at::Tensor& x2,                                        \
         [[maybe_unused]] const at::Tensor& x3) -> at::Tensor { return aten; }),
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
};

/// The device of the tensor operands; a 0-d CPU operand follows the others.
at::Device deviceOf(const EvalCall& call) {
  at::Device device(at::kCPU);
  for (const PolymorphicValue& value : call.values) {
    if (value.is<at::Tensor>() && (device.is_cpu() || value.asTensor().dim() > 0)) {
      device = value.asTensor().device();
    }
  }
  return device;
}

at::Tensor operandOf(const PolymorphicValue& value, at::ScalarType dtype, at::Device device) {
  if (value.is<at::Tensor>()) {
    return value.asTensor().to(dtype);
  }
  return toTensor(value, device).to(dtype);
}

}  // namespace

at::ScalarType calculationType(PrimType compute) {
  if (compute == PrimType::UInt64) {
    return at::kLong;
  }
  return isReducedFloat(compute) && bitsOf(compute) <= 8 ? at::kFloat : torchDtype(compute);
}

void checkFitsInt32(std::string_view op, const std::string& operand,
                    const PolymorphicValue& value) {
  if (!value.is<int64_t>()) {
    return;
  }
  const int64_t number = value.as<int64_t>();
  if (number < std::numeric_limits<int32_t>::min() ||
      number > std::numeric_limits<int32_t>::max()) {
    throwUser(ErrorKind::Runtime,
              {op, "a number is compared and chosen in the type of the tensors beside it",
               operand + " is " + std::to_string(number) + ", which Int32 does not hold",
               "cast the tensors to DataType.Int"});
  }
}

std::vector<PolymorphicValue> evaluatePointwise(const EvalCall& call) {
  const OpInfo& op = infoOf(*call.expr->op);
  const std::vector<TensorType> tensors = tensorOperands(*call.fusion, call.expr->args);
  const OpTypes types = pointwiseTypes({&op, call.fusion, call.expr->args, tensors});
  const PointwiseRow& row = pointwiseRows()[static_cast<size_t>(op.pointwiseRow)];
  const at::ScalarType compute = calculationType(types.compute);
  const at::Device device = deviceOf(call);
  std::array<at::Tensor, 4> x;
  for (size_t i = 0; i < call.values.size(); ++i) {
    const bool isCondition = row.types == DtypeClass::Select && i == 0;
    if (types.compute == PrimType::Int32 && needsWholeNumber(row.types)) {
      checkFitsInt32(op.name, "x" + std::to_string(i), call.values[i]);
    }
    x[i] = operandOf(call.values[i], isCondition ? at::kBool : compute, device);
  }
  const at::Tensor result =
      kRowFunctions[static_cast<size_t>(op.pointwiseRow)](x[0], x[1], x[2], x[3]);
  return {result.to(heldDtype(types.result))};
}

}  // namespace meshfuse
