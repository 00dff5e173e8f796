#include "meshfuse/types/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

/// The values that a floating number may be cut off to when it becomes an integer: `low` <= x <
/// `high`.
struct IntegerBounds {
  double low;
  double high;
};

IntegerBounds boundsOf(PrimType type) noexcept {
  switch (type) {
    case PrimType::Int32:
      return {-0x1p31, 0x1p31};
    case PrimType::UInt64:
      return {0.0, 0x1p64};
    default:
      return {-0x1p63, 0x1p63};
  }
}

/// Cut off towards zero; throws UserError(Value) where `type` has no such integer. The 64 bits of a
/// UInt64.
int64_t integerFrom(double value, PrimType type) {
  double whole = std::trunc(value);
  IntegerBounds bounds = boundsOf(type);
  bool fits = whole >= bounds.low && whole < bounds.high;  // no NaN does
  if (!fits) {
    std::string rule = std::string("a number that becomes ").append(nameOf(type)) +
                       " must be finite and in that type's range";
    throwUser(ErrorKind::Value, {"cast", rule, "got " + toText(value),
                                 "clamp the number or cast it to a floating type"});
  }
  if (whole >= 0x1p63) {
    return std::bit_cast<int64_t>(static_cast<uint64_t>(whole));
  }
  return static_cast<int64_t>(whole);
}

int64_t wrapTo(int64_t value, PrimType type) noexcept {
  return type == PrimType::Int32 ? static_cast<int32_t>(value) : value;
}

bool isSameDouble(double a, double b) noexcept {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

uint64_t hashDouble(uint64_t seed, double value) noexcept {
  double canonical = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
  return hashMix(seed, std::bit_cast<uint64_t>(canonical));
}

std::string pythonText(double value) {
  return std::isfinite(value) ? toText(value) : "float(\"" + toText(value) + "\")";
}

/// As `pythonText`, without the `.0` that Python leaves out inside a complex number.
std::string partText(double value) {
  std::string text = toText(value);
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text;
}

/// `(1+2j)` evaluates to other signs of zero and to no infinities or NaNs; those are written as a
/// call.
bool needsCall(double part) noexcept {
  return !std::isfinite(part) || (part == 0.0 && std::signbit(part));
}

std::string pythonText(Scalar::Complex value) {
  if (needsCall(value.real()) || needsCall(value.imag())) {
    return "complex(" + pythonText(value.real()) + ", " + pythonText(value.imag()) + ")";
  }
  std::string_view plus = std::signbit(value.imag()) ? "" : "+";
  return "(" + partText(value.real()).append(plus) + partText(value.imag()) + "j)";
}

std::string pythonText(bool value) { return value ? "True" : "False"; }
std::string pythonText(int64_t value) { return std::to_string(value); }

}  // namespace

TypeCategory Scalar::category() const noexcept { return categoryOf(type()); }

PrimType Scalar::type() const noexcept {
  constexpr PrimType types[] = {PrimType::Bool, PrimType::Int, PrimType::Double,
                                PrimType::ComplexDouble};
  return types[value_.index()];
}

bool Scalar::toBool() const noexcept {
  return visit([](auto value) { return value != decltype(value)(); });
}

int64_t Scalar::toInt() const {
  if (const int64_t* value = std::get_if<int64_t>(&value_)) {
    return *value;
  }
  return isBool() ? int64_t{toBool()} : integerFrom(toDouble(), PrimType::Int);
}

double Scalar::toDouble() const noexcept { return toComplex().real(); }

Scalar::Complex Scalar::toComplex() const noexcept {
  return visit([](auto value) -> Complex {
    if constexpr (std::is_same_v<decltype(value), Complex>) {
      return value;
    } else {
      return {static_cast<double>(value), 0.0};
    }
  });
}

Scalar Scalar::castTo(PrimType type) const {
  switch (categoryOf(type)) {
    case TypeCategory::Boolean:
      return toBool();
    case TypeCategory::Integral:
      return isDouble() || isComplex() ? integerFrom(toDouble(), type) : wrapTo(toInt(), type);
    case TypeCategory::Floating:
      return toDouble();
    case TypeCategory::Complex:
      return toComplex();
    case TypeCategory::None:
      break;
  }
  throwUser(ErrorKind::Type, {"cast", "a number can only become an element type",
                              std::string("got ").append(nameOf(type)) + " for " + toText(),
                              "name the type, as in DataType.Float"});
}

std::string Scalar::toText() const {
  return visit([](auto value) { return pythonText(value); });
}

bool Scalar::isSame(const Scalar& other) const noexcept {
  if (value_.index() != other.value_.index()) {
    return false;
  }
  if (isDouble() || isComplex()) {
    Complex a = toComplex();
    Complex b = other.toComplex();
    return isSameDouble(a.real(), b.real()) && isSameDouble(a.imag(), b.imag());
  }
  return value_ == other.value_;
}

uint64_t Scalar::hash() const noexcept {
  uint64_t seed = hashMix(0, value_.index());
  if (const int64_t* value = std::get_if<int64_t>(&value_)) {
    return hashMix(seed, static_cast<uint64_t>(*value));
  }
  Complex value = toComplex();
  return hashDouble(hashDouble(seed, value.real()), value.imag());
}

}  // namespace meshfuse
