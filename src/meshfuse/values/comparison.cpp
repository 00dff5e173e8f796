#include "meshfuse/values/comparison.h"

#include <algorithm>
#include <cmath>
#include <compare>

#include <ATen/ATen.h>

#include "meshfuse/values/conversions.h"
#include "meshfuse/values/operands.h"
#include "meshfuse/values/struct_value.h"

namespace meshfuse {
namespace {

using Kind = ValueKind;
using Complex = std::complex<double>;
using Values = PolymorphicValue::Values;

/// Exact: a 64-bit integer is not rounded to a double first, so that equal values are also equal to one another.
std::partial_ordering compareExactly(int64_t a, double b) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(b)) {
    return std::partial_ordering::unordered;
  }
  if (b >= kTwoTo63) {
    return std::partial_ordering::less;
  }
  if (b < -kTwoTo63) {
    return std::partial_ordering::greater;
  }
  const double whole = std::trunc(b);
  const auto integer = static_cast<int64_t>(whole);
  return a != integer ? std::partial_ordering(a <=> integer) : 0.0 <=> b - whole;
}

std::partial_ordering compareReal(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<double>()) {
    return b.is<double>() ? a.as<double>() <=> b.as<double>()
                          : 0 <=> compareExactly(b.to<int64_t>(), a.as<double>());
  }
  return b.is<double>() ? compareExactly(a.to<int64_t>(), b.as<double>())
                        : std::partial_ordering(a.to<int64_t>() <=> b.to<int64_t>());
}

bool equalNumbers(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<Complex>() && b.is<Complex>()) {
    return a.as<Complex>() == b.as<Complex>();
  }
  if (a.is<Complex>()) {
    return a.as<Complex>().imag() == 0.0 && compareReal(a.as<Complex>().real(), b) == 0;
  }
  return b.is<Complex>() ? equalNumbers(b, a) : compareReal(a, b) == 0;
}

bool isReal(const PolymorphicValue& value) { return isScalar(value) && !value.is<Complex>(); }

bool isOneElement(const PolymorphicValue& value) {
  return value.is<at::Tensor>() && value.tensorUnchecked().numel() == 1 &&
         !value.tensorUnchecked().is_meta();
}

/// A one-element tensor as its element, anything else as it is.
PolymorphicValue asElement(const PolymorphicValue& value) {
  if (!isOneElement(value)) {
    return value;
  }
  const at::Scalar element = value.tensorUnchecked().item();
  if (element.isBoolean()) {
    return element.toBool();
  }
  if (element.isIntegral(/*includeBool=*/false)) {
    return element.toLong();
  }
  return element.isFloatingPoint() ? PolymorphicValue(element.toDouble())
                                   : PolymorphicValue(Complex(element.toComplexDouble()));
}

bool comparesAsElement(const PolymorphicValue& a, const PolymorphicValue& b) {
  return (isOneElement(a) && (isOneElement(b) || isScalar(b))) || (isOneElement(b) && isScalar(a));
}

/// How two values that have an order lie; throws for others.
std::partial_ordering order(const PolymorphicValue& a, const PolymorphicValue& b, const char* op) {
  if (isReal(a) && isReal(b)) {
    return compareReal(a, b);
  }
  if (a.isNull() && b.isNull()) {
    return std::partial_ordering::equivalent;
  }
  if (a.is<Pointer>() && b.is<Pointer>()) {
    return a.as<Pointer>() <=> b.as<Pointer>();
  }
  if (a.is<Values>() && b.is<Values>()) {
    const Values& left = a.as<Values>();
    const Values& right = b.as<Values>();
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      const std::partial_ordering element = order(left[i], right[i], op);
      if (element != 0) {
        return element;
      }
    }
    return left.size() <=> right.size();
  }
  if (comparesAsElement(a, b)) {
    return order(asElement(a), asElement(b), op);
  }
  throwOperands(op, a, b);
}

bool isNan(const PolymorphicValue& value) {
  if (value.is<double>()) {
    return std::isnan(value.as<double>());
  }
  return value.is<Complex>() &&
         (std::isnan(value.as<Complex>().real()) || std::isnan(value.as<Complex>().imag()));
}

bool equalContents(const at::Tensor& a, const at::Tensor& b) {
  return a.is_same(b) || (a.scalar_type() == b.scalar_type() && a.device() == b.device() &&
                          a.sizes() == b.sizes() && !a.is_meta() && at::equal(a, b));
}

template <class Same>
bool allSame(std::span<const PolymorphicValue> a, std::span<const PolymorphicValue> b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

/// Equality of struct fields: NaN equals NaN, tensors by content, and what does not compare is different.
bool equalFields(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<at::Tensor>() && b.is<at::Tensor>()) {
    return equalContents(a.tensorUnchecked(), b.tensorUnchecked());
  }
  return isSameNanSensitive(a, b);
}

bool equalStructs(const StructHandle& a, const StructHandle& b) {
  return a.sharesWith(b) ||
         (a->type() == b->type() && allSame(a->values(), b->values(), equalFields));
}

PolymorphicValue compareTensors(const char* op,
                                at::Tensor (*compare)(const at::Tensor&, const at::Tensor&),
                                const PolymorphicValue& a, const PolymorphicValue& b) {
  return callTorch(op, [&] { return compare(tensorOperand(a), tensorOperand(b)); });
}

}  // namespace

namespace detail {

bool equal(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isScalar(a) && isScalar(b)) {
    return equalNumbers(a, b);
  }
  if (a.kind() == b.kind()) {
    switch (a.kind()) {
      case Kind::None:
        return true;
      case Kind::Pointer:
        return a.as<Pointer>() == b.as<Pointer>();
      case Kind::Opaque:
        return a.as<Opaque>() == b.as<Opaque>();
      case Kind::Struct:
        return equalStructs(a.as<StructHandle>(), b.as<StructHandle>());
      case Kind::Vector:
        return allSame(a.as<Values>(), b.as<Values>(), equal);
      default:
        break;
    }
  }
  if (comparesAsElement(a, b)) {
    return equalNumbers(asElement(a), asElement(b));
  }
  throwOperands("==", a, b);
}

bool less(const PolymorphicValue& a, const PolymorphicValue& b, const char* op) {
  return order(a, b, op) < 0;
}

bool lessOrEqual(const PolymorphicValue& a, const PolymorphicValue& b, const char* op) {
  return order(a, b, op) <= 0;
}

bool sameContents(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::Tensor:
      return a.tensorUnchecked().is_same(b.tensorUnchecked());
    case Kind::DistributedTensor:
      return a.distributedUnchecked().isSame(b.distributedUnchecked());
    case Kind::Pointer:
      return a.as<Pointer>() == b.as<Pointer>() &&
             a.as<Pointer>().pointeeBits() == b.as<Pointer>().pointeeBits();
    case Kind::Struct: {
      const StructHandle& left = a.as<StructHandle>();
      const StructHandle& right = b.as<StructHandle>();
      return left.sharesWith(right) ||
             (left->type() == right->type() && allSame(left->values(), right->values(), isSame));
    }
    case Kind::Vector:
      return allSame(a.as<Values>(), b.as<Values>(), isSame);
    default:
      return (isNan(a) && isNan(b)) || a == b;
  }
}

}  // namespace detail

PolymorphicValue eq(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("eq", &at::eq, a, b) : PolymorphicValue(a == b);
}
PolymorphicValue ne(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("ne", &at::ne, a, b) : PolymorphicValue(a != b);
}
PolymorphicValue lt(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("lt", &at::lt, a, b) : PolymorphicValue(a < b);
}
PolymorphicValue gt(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("gt", &at::gt, a, b) : PolymorphicValue(a > b);
}
PolymorphicValue le(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("le", &at::le, a, b) : PolymorphicValue(a <= b);
}
PolymorphicValue ge(const PolymorphicValue& a, const PolymorphicValue& b) {
  return areTensorOperands(a, b) ? compareTensors("ge", &at::ge, a, b) : PolymorphicValue(a >= b);
}

bool isSameNanSensitive(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isNan(a) && isNan(b)) {
    return true;
  }
  if (isScalar(a) && isScalar(b)) {
    return equalNumbers(a, b);
  }
  if (comparesAsElement(a, b)) {
    return isSameNanSensitive(asElement(a), asElement(b));
  }
  if (a.is<Values>() && b.is<Values>()) {
    return allSame(a.as<Values>(), b.as<Values>(), isSameNanSensitive);
  }
  const bool tensors = a.is<at::Tensor>() || a.is<DistributedTensor>();
  return a.kind() == b.kind() && (tensors ? isSame(a, b) : a == b);
}

}  // namespace meshfuse
