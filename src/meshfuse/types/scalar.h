// A number known to the compiler: bool, int64, double or complex<double>.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <variant>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

class Scalar {
 public:
  using Complex = std::complex<double>;

  constexpr Scalar() noexcept : value_(false) {}
  constexpr Scalar(bool v) noexcept : value_(v) {}         // NOLINT(google-explicit-constructor)
  constexpr Scalar(int64_t v) noexcept : value_(v) {}      // NOLINT(google-explicit-constructor)
  constexpr Scalar(int v) noexcept : value_(int64_t{v}) {} // NOLINT(google-explicit-constructor)
  constexpr Scalar(double v) noexcept : value_(v) {}       // NOLINT(google-explicit-constructor)
  constexpr Scalar(Complex v) noexcept : value_(v) {}      // NOLINT(google-explicit-constructor)

  bool isBool() const noexcept { return std::holds_alternative<bool>(value_); }
  bool isInt() const noexcept { return std::holds_alternative<int64_t>(value_); }
  bool isDouble() const noexcept { return std::holds_alternative<double>(value_); }
  bool isComplex() const noexcept { return std::holds_alternative<Complex>(value_); }
  TypeCategory category() const noexcept;
  /// Bool, Int, Double or ComplexDouble.
  PrimType type() const noexcept;

  /// The value converted as C++ converts it; a complex gives its real part; a NaN or out-of-range double
  /// converted to an integer throws UserError(Value).
  bool toBool() const noexcept;
  int64_t toInt() const;
  double toDouble() const noexcept;
  Complex toComplex() const noexcept;

  /// The value in the kind that `type` stands for (Float -> double, Int32 -> int64, wrapped to its width).
  Scalar castTo(PrimType type) const;

  /// Python text: `True`, `3`, `0.5`, `float("inf")`, `(1+2j)`.
  std::string toText() const;

  /// Same kind and same value, NaN being the same as NaN and -0.0 different from 0.0.
  bool isSame(const Scalar& other) const noexcept;
  uint64_t hash() const noexcept;

  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), value_);
  }

 private:
  std::variant<bool, int64_t, double, Complex> value_;
};

}  // namespace meshfuse
