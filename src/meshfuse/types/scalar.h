// A number known to the compiler: bool, int64, double or complex<double>.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

class Scalar {
 public:
  using Complex = std::complex<double>;

  constexpr Scalar() noexcept : value_(false) {}
  // Implicit, since a number is a Scalar wherever one is expected.
  constexpr Scalar(bool v) noexcept : value_(v) {}          // NOLINT(google-explicit-constructor)
  constexpr Scalar(int64_t v) noexcept : value_(v) {}       // NOLINT(google-explicit-constructor)
  constexpr Scalar(int v) noexcept : value_(int64_t{v}) {}  // NOLINT(google-explicit-constructor)
  constexpr Scalar(double v) noexcept : value_(v) {}        // NOLINT(google-explicit-constructor)
  constexpr Scalar(Complex v) noexcept : value_(v) {}       // NOLINT(google-explicit-constructor)

  bool isBool() const noexcept { return std::holds_alternative<bool>(value_); }
  bool isInt() const noexcept { return std::holds_alternative<int64_t>(value_); }
  bool isDouble() const noexcept { return std::holds_alternative<double>(value_); }
  bool isComplex() const noexcept { return std::holds_alternative<Complex>(value_); }
  TypeCategory category() const noexcept;
  /// Bool, Int, Double or ComplexDouble.
  PrimType type() const noexcept;

  /// True for anything but zero; a NaN and a complex number with either part nonzero are true.
  bool toBool() const noexcept;
  /// The value as a number of that kind: a complex gives its real part, a fraction is cut off
  /// towards zero. A NaN or a double beyond int64 throws UserError(Value).
  int64_t toInt() const;
  double toDouble() const noexcept;
  Complex toComplex() const noexcept;

  /// The value in the kind that `type` stands for: Half and Float give a double that is *not*
  /// rounded to their precision; Int32 gives an int64 wrapped to 32 bits, UInt64 one that holds the
  /// 64 bits. A NaN or a floating value beyond an integer type's range throws UserError(Value),
  /// Null throws UserError(Type).
  Scalar castTo(PrimType type) const;

  /// Python text that evaluates to the same value: `True`, `3`, `0.5`, `float("inf")`, `(1+2j)`,
  /// `complex(-0.0, float("nan"))`.
  std::string toText() const;

  /// Same kind and same value, NaN being the same as NaN and -0.0 different from 0.0.
  bool isSame(const Scalar& other) const noexcept;
  /// Equal for values that are the same.
  uint64_t hash() const noexcept;

  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), value_);
  }

 private:
  std::variant<bool, int64_t, double, Complex> value_;
};

}  // namespace meshfuse
