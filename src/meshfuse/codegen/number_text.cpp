#include "meshfuse/codegen/number_text.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "meshfuse/codegen/device_text.h"

namespace meshfuse {

namespace {

std::string doubleLiteral(double value) {
  if (std::isnan(value)) {
    return "__builtin_nan(\"\")";
  }
  if (std::isinf(value)) {
    return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}

}  // namespace

std::string numberLiteral(const Scalar& value) {
  if (value.isBool()) {
    return value.toBool() ? "true" : "false";
  }
  if (value.isInt()) {
    // The least number has no literal.
    return "int64(" +
           (value.toInt() == INT64_MIN ? "-9223372036854775807 - 1"
                                       : std::to_string(value.toInt())) +
           ")";
  }
  if (value.isDouble()) {
    return doubleLiteral(value.toDouble());
  }
  const Scalar::Complex number = value.toComplex();
  return "complex<double>(" + doubleLiteral(number.real()) + ", " + doubleLiteral(number.imag()) +
         ")";
}

std::string foldIdentity(ReduceKind fold, PrimType type) {
  const std::string name(deviceComputeName(type));
  switch (fold) {
    case ReduceKind::Product:
      return name + "(1)";
    case ReduceKind::Max:
    case ReduceKind::Min:
      break;
    default:
      return name + "(0)";
  }
  const bool isMax = fold == ReduceKind::Max;
  switch (type) {
    case PrimType::Bool:
      return isMax ? "false" : "true";
    case PrimType::Int:
      return isMax ? "-__INT64_MAX__ - 1" : "__INT64_MAX__";
    case PrimType::Int32:
      return isMax ? "-__INT32_MAX__ - 1" : "__INT32_MAX__";
    case PrimType::UInt64:
      return isMax ? "0" : "__UINT64_MAX__";
    default:
      return name + (isMax ? "(-__builtin_inf())" : "(__builtin_inf())");
  }
}

}  // namespace meshfuse
