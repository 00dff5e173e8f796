#include "meshfuse/ops/iota/op.h"

#include <cmath>
#include <optional>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::iota {

namespace {

struct Number {
  PrimType type;
  std::optional<Scalar> constant;
};

Number numberOf(const Fusion& fusion, const Arg& arg) {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return {number->type(), *number};
  }
  const Val& val = fusion.val(std::get<ValId>(arg));
  if (val.isTensor()) {
    throwUser(ErrorKind::Type, {"iota", "incompatible function arguments",
                                "got " + describe(fusion, arg), "pass numbers or scalars"});
  }
  return {val.dtype(), val.scalar().constant};
}

[[noreturn]] void refuse(const std::string& rule, const Number& number) {
  const std::string value = number.constant ? number.constant->toText() + " of type " : "type ";
  throwUser(ErrorKind::Runtime, {"iota", rule, "got " + value + std::string(nameOf(number.type)),
                                 "pass finite numbers of the category of dtype"});
}

void checkCategory(std::string_view name, const Number& number, PrimType dtype) {
  if (categoryOf(number.type) != categoryOf(dtype)) {
    refuse(std::string(name) + " dtype does not match dtype " + std::string(nameOf(dtype)), number);
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const PrimType dtype = std::get<PrimType>(args[3]);
  const TypeCategory category = categoryOf(dtype);
  if (category != TypeCategory::Integral && category != TypeCategory::Floating) {
    throwUser(ErrorKind::Runtime,
              {"iota", "the element type is integral or floating",
               "got DataType." + std::string(nameOf(dtype)), "count in Int and cast"});
  }
  const bool isWhole = category == TypeCategory::Integral;
  const auto complete = [&](Arg& arg, int value) {
    if (!isGiven(arg)) {
      arg = isWhole ? Scalar(value) : Scalar(static_cast<double>(value));
    }
  };
  complete(args[1], 0);
  complete(args[2], 1);
  const Number start = numberOf(fusion, args[1]);
  const Number step = numberOf(fusion, args[2]);
  checkCategory("start", start, dtype);
  checkCategory("step", step, dtype);
  checkNumbers(start.constant, step.constant);
}

std::vector<PrimType> dtypes(const OpCall& call) { return {std::get<PrimType>(call.args[3])}; }

DimMap dimMap(const OpCall& call) {
  const IntExpr length = sizeArg(*call.fusion, call.args[0]);
  checkSizes("iota", *call.fusion, Ints{length.asConstant().value_or(0)}, 0);
  return factoryDimMap({length});
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sampleOf({}, {Scalar(6), Scalar(0), Scalar(1), PrimType::Int}, {}),
          sampleOf({}, {Scalar(5), Scalar(2.0), Scalar(-0.5), PrimType::Float}, {}),
          sampleOf({}, {Scalar(0), Scalar(3), Scalar(2), PrimType::Int32}, {})};
}

}  // namespace

void checkNumbers(const std::optional<Scalar>& start, const std::optional<Scalar>& step) {
  const auto refuseValue = [](const std::string& rule, const Scalar& number) {
    refuse(rule, {number.type(), number});
  };
  if (start && !std::isfinite(start->toDouble())) {
    refuseValue("start must be finite", *start);
  }
  if (step && !std::isfinite(step->toDouble())) {
    refuseValue("step must be finite", *step);
  }
  if (step && step->toDouble() == 0.0) {
    refuseValue("step must not equal zero", *step);
  }
}

OpInfo info() {
  return structuredOp("iota", "Equally spaced numbers from start; torch.arange",
                      {{"length", ParamKind::Size},
                       {"start", ParamKind::Operand, true},
                       {"step", ParamKind::Operand, true},
                       {"dtype", ParamKind::DataType, true, PrimType::Int}},
                      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
}

}  // namespace meshfuse::ops::iota
