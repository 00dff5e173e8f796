#include "meshfuse/ops/clamp/op.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::clamp {

namespace {

PrimType dtypeOf(const Fusion& fusion, const Arg& arg) {
  const Scalar* number = std::get_if<Scalar>(&arg);
  return number != nullptr ? number->type() : fusion.val(std::get<ValId>(arg)).dtype();
}

/// The smallest and the largest number of an ordered type.
std::pair<Scalar, Scalar> rangeOf(PrimType type) {
  switch (categoryOf(type)) {
    case TypeCategory::Boolean:
      return {false, true};
    case TypeCategory::Integral:
      break;
    default:
      if (type == PrimType::Float8_e8m0fnu) {
        return {0x1p-127, 0x1p127};  // powers of two, without a sign, a zero or an infinity
      }
      return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  if (type == PrimType::Int32) {
    return {int64_t{std::numeric_limits<int32_t>::lowest()},
            int64_t{std::numeric_limits<int32_t>::max()}};
  }
  return {std::numeric_limits<int64_t>::lowest(), std::numeric_limits<int64_t>::max()};
}

void checkBound(const Fusion& fusion, std::string_view name, const Arg& bound) {
  const ValId* val = std::get_if<ValId>(&bound);
  if (val != nullptr && fusion.val(*val).isTensor()) {
    throwUser(ErrorKind::Type,
              {"clamp", "incompatible function arguments",
               "argument '" + std::string(name) + "' is " + describe(fusion, bound),
               "pass a number, a scalar or None; ops.minimum and ops.maximum take tensors"});
  }
}

void checkReal(const Fusion& fusion, const Arg& arg) {
  if (categoryOf(dtypeOf(fusion, arg)) == TypeCategory::Complex) {
    const Scalar* number = std::get_if<Scalar>(&arg);
    throwUser(ErrorKind::Runtime,
              {"clamp", "complex numbers have no order",
               "got " + (number != nullptr ? number->toText() : describe(fusion, arg)),
               "pass real operands"});
  }
}

/// A bound that is left out is the type's own.
void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkBound(fusion, "min", args[1]);
  checkBound(fusion, "max", args[2]);
  checkReal(fusion, args[0]);
  if (dtypeOf(fusion, args[0]) == PrimType::UInt64) {
    throwUser(ErrorKind::Runtime, {"clamp", "Input other than UInt64 is required", "got UInt64",
                                   "cast it to DataType.Int"});
  }
  const auto [lowest, highest] = rangeOf(dtypeOf(fusion, args[0]));
  args[1] = isGiven(args[1]) ? std::move(args[1]) : Arg(lowest);
  args[2] = isGiven(args[2]) ? std::move(args[2]) : Arg(highest);
  checkReal(fusion, args[1]);
  checkReal(fusion, args[2]);
}

std::vector<PrimType> dtypes(const OpCall& call) { return {dtypeOf(*call.fusion, call.args[0])}; }

std::optional<Scalar> fold(const OpCall& call, std::span<const Scalar> operands) {
  const PrimType type = dtypes(call).front();
  const Scalar low = boundIn(type, operands[1]);
  const Scalar high = boundIn(type, operands[2]);
  if (categoryOf(type) == TypeCategory::Floating) {
    const double value = operands[0].toDouble();
    const double raised =
        value < low.toDouble() || std::isnan(low.toDouble()) ? low.toDouble() : value;
    return raised > high.toDouble() || std::isnan(high.toDouble()) ? high : Scalar(raised);
  }
  return Scalar(std::min(std::max(operands[0].toInt(), low.toInt()), high.toInt())).castTo(type);
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {unarySample({6, 4}, {Scalar(-0.5), Scalar(1.0)}), unarySample({5, 3}, {{}, Scalar(0.25)}),
          unarySample({1, 4}, {Scalar(0), {}}), unarySample({0, 4}, {{}, {}}),
          unarySample({2, 3, 4}, {Scalar(1.0), Scalar(-1.0)})};
}

}  // namespace

Scalar boundIn(PrimType type, const Scalar& bound) {
  if (!isIntegralOrBool(categoryOf(type))) {
    return bound.castTo(type);
  }
  if (std::isnan(bound.toDouble())) {
    throwUser(ErrorKind::Value, {"clamp", "a bound of whole numbers or bools is not NaN",
                                 "got NaN for elements of DataType." + std::string(nameOf(type)),
                                 "pass None for no bound"});
  }
  const auto [lowest, highest] = rangeOf(type);
  // As a double the largest Int is 2^63, which is the first one beyond.
  if (bound.isDouble() && bound.toDouble() <= lowest.toDouble()) {
    return lowest;
  }
  if (bound.isDouble() && bound.toDouble() >= highest.toDouble()) {
    return highest;
  }
  return Scalar(std::clamp(bound.toInt(), lowest.toInt(), highest.toInt())).castTo(type);
}

OpInfo info() {
  OpInfo op = structuredOp(
      "clamp",
      "Elements brought between two numbers, either of which may be None, in their own dtype; NaN "
      "passes; torch.clamp",
      {{"x", ParamKind::Operand},
       {"min", ParamKind::Operand, true},
       {"max", ParamKind::Operand, true}},
      {normalize, dtypes, pointwiseDimMap, always<Algebra::Increasing>, samples});
  op.overloads.front().positionalOnly = op.params.size();
  op.fold = fold;
  return op;
}

}  // namespace meshfuse::ops::clamp
