#include "meshfuse/evaluator/op_evaluation.h"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/evaluator/pointwise_eval.h"
#include "meshfuse/ops/structured_ops.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/packed_floats.h"

namespace meshfuse {

namespace ops {
#define MESHFUSE_STRUCTURED_OP(folder)                          \
  namespace folder {                                            \
  std::vector<PolymorphicValue> evaluate(const EvalCall& call); \
  }
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
}  // namespace ops

at::Tensor EvalCall::tensor(size_t arg) const { return values[arg].asTensor(); }

c10::Device deviceOfFactories(std::span<const PolymorphicValue> inputs) {
  for (const PolymorphicValue& value : inputs) {
    if (value.is<at::Tensor>() && !value.asTensor().is_cpu()) {
      return value.asTensor().device();
    }
  }
  return c10::DeviceType::CPU;
}

std::vector<at::Tensor> EvalCall::tensors(size_t arg) const {
  std::vector<at::Tensor> out;
  for (const PolymorphicValue& value : values[arg].as<std::vector<PolymorphicValue>>()) {
    out.push_back(value.asTensor());
  }
  return out;
}

bool EvalCall::has(size_t arg) const { return values[arg].hasValue(); }

EvalFunction evalFunctionOf(const OpInfo& op) {
  static constexpr std::array<std::pair<std::string_view, EvalFunction>, 0
#define MESHFUSE_STRUCTURED_OP(folder) +1
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
                              >
      kFunctions{{
#define MESHFUSE_STRUCTURED_OP(folder) {#folder, &ops::folder::evaluate},
#include "meshfuse/ops/structured_ops.inc"
#undef MESHFUSE_STRUCTURED_OP
      }};
  if (op.isPointwise()) {
    return &evaluatePointwise;
  }
  const auto found =
      std::ranges::find(kFunctions, op.name, &std::pair<std::string_view, EvalFunction>::first);
  return found == kFunctions.end() ? nullptr : found->second;
}

namespace {

PolymorphicValue numberIn(const at::Scalar& item) {
  if (item.isBoolean()) {
    return {item.toBool()};
  }
  if (item.isIntegral(/*includeBool=*/false)) {
    return {item.toLong()};
  }
  if (item.isComplex()) {
    const c10::complex<double> number = item.toComplexDouble();
    return {std::complex<double>(number.real(), number.imag())};
  }
  return {item.toDouble()};
}

/// A call whose operands are all numbers: by the op's own arithmetic where numbers have it, else on 0-d tensors.
PolymorphicValue evaluateScalarCall(const EvalCall& call) {
  const OpInfo& op = infoOf(*call.expr->op);
  if (op.extent != nullptr) {
    return evalFunctionOf(op)(call).front();
  }
  std::vector<Scalar> operands;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (op.params[i].kind == ParamKind::Operand) {
      operands.push_back(toScalar(call.values[i]));
    }
  }
  const OpCall opCall{&op, call.fusion, call.expr->args, {}};
  if (const std::optional<Scalar> value = op.fold(opCall, operands)) {
    return PolymorphicValue(*value);
  }
  return numberIn(evalFunctionOf(op)(call).front().asTensor().item());
}

bool hasMetaOperand(const EvalCall& call) {
  return std::ranges::any_of(call.values, [](const PolymorphicValue& value) {
    return value.is<at::Tensor>() && value.asTensor().is_meta();
  });
}

/// Meta results for operations that torch runs on meta tensors only from Python.
std::vector<PolymorphicValue> emptyMeta(const EvalCall& call) {
  std::vector<PolymorphicValue> results;
  for (size_t i = 0; i < call.expr->outputs.size(); ++i) {
    const at::ScalarType dtype = heldDtype(call.fusion->val(call.expr->outputs[i]).dtype());
    results.emplace_back(
        at::empty(call.outputSizes[i], at::TensorOptions(dtype).device(at::kMeta)));
  }
  return results;
}

void checkResult(const EvalCall& call, const std::vector<PolymorphicValue>& results) {
  internalCheck(results.size() == call.expr->outputs.size(), "an evaluation gives every output");
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor& tensor = results[i].asTensor();
    const PrimType dtype = call.fusion->val(call.expr->outputs[i]).dtype();
    internalCheck(tensor.scalar_type() == heldDtype(dtype),
                  "an evaluation gives the dtype that the IR states");
    internalCheck(std::ranges::equal(tensor.sizes(), call.outputSizes[i]),
                  "an evaluation gives the sizes that the IR states");
  }
}

[[noreturn]] void throwTorchError(const OpInfo& op, const c10::Error& error) {
  if (std::string_view(error.what_without_backtrace()) == "ZeroDivisionError") {
    throwUser(ErrorKind::ZeroDivision,
              {op.name, "the divisor of an integer division is not zero",
               "got a divisor with zeros (ZeroDivisionError)", "divide by non-zero numbers"});
  }
  throwUser(ErrorKind::Runtime, {op.name, "torch runs the operation",
                                 error.what_without_backtrace(), "see torch's message"});
}

bool isNarrow(const at::Tensor& tensor) {
  return at::isFloat8Type(tensor.scalar_type()) || tensor.scalar_type() == at::kUInt64;
}

/// A tensor of a type that ATen has few functions of, in one that it has all of: Float holds every 8-bit float, and the bits of
/// UInt64 are moved, added and multiplied as those of Int. Operations that compare refuse UInt64 when they are defined.
PolymorphicValue widened(const PolymorphicValue& value) {
  if (value.is<std::vector<PolymorphicValue>>()) {
    std::vector<PolymorphicValue> list;
    std::ranges::transform(value.as<std::vector<PolymorphicValue>>(), std::back_inserter(list),
                           widened);
    return list;
  }
  if (!value.is<at::Tensor>() || !isNarrow(value.asTensor())) {
    return value;
  }
  const at::Tensor& tensor = value.asTensor();
  return tensor.scalar_type() == at::kUInt64 ? tensor.view(at::kLong) : tensor.to(at::kFloat);
}

bool holdsNarrow(const PolymorphicValue& value) {
  if (value.is<std::vector<PolymorphicValue>>()) {
    return std::ranges::any_of(value.as<std::vector<PolymorphicValue>>(), holdsNarrow);
  }
  return value.is<at::Tensor>() && isNarrow(value.asTensor());
}

std::vector<PolymorphicValue> evaluateWidened(const EvalCall& call, EvalFunction evaluate) {
  std::vector<PolymorphicValue> values;
  std::ranges::transform(call.values, std::back_inserter(values), widened);
  EvalCall wide = call;
  wide.values = values;
  std::vector<PolymorphicValue> results = evaluate(wide);
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor& tensor = results[i].asTensor();
    const at::ScalarType dtype = heldDtype(call.fusion->val(call.expr->outputs[i]).dtype());
    results[i] = dtype == at::kUInt64 && tensor.scalar_type() == at::kLong ? tensor.view(dtype)
                                                                           : tensor.to(dtype);
  }
  return results;
}

/// What ATen has no function for, in another way; `error` says what that is.
std::vector<PolymorphicValue> evaluateOtherwise(const EvalCall& call, const OpInfo& op,
                                                const c10::Error& error) {
  if (hasMetaOperand(call)) {
    return emptyMeta(call);
  }
  if (std::ranges::none_of(call.values, holdsNarrow)) {
    throwTorchError(op, error);
  }
  return evaluateWidened(call, evalFunctionOf(op));
}

}  // namespace

std::vector<PolymorphicValue> evaluateCall(const EvalCall& call) {
  const OpInfo& op = infoOf(*call.expr->op);
  if (!call.fusion->val(call.expr->outputs.front()).isTensor()) {
    return {evaluateScalarCall(call)};
  }
  std::vector<PolymorphicValue> results;
  try {
    try {
      results = evalFunctionOf(op)(call);
    } catch (const c10::NotImplementedError& error) {
      results = evaluateOtherwise(call, op, error);
    }
  } catch (const c10::Error& error) {
    throwTorchError(op, error);
  }
  checkResult(call, results);
  return results;
}

}  // namespace meshfuse
