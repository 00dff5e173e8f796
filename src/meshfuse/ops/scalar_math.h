// The functions that the device column of pointwise.def calls, for numbers on the host: bool, int64_t, double and
// complex<double>. A row folds for the types that its functions accept here; a logical right shift does not, it depends on the width that
// Int32 has and int64_t has not.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <exception>
#include <utility>

namespace meshfuse::scalar_math {

using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::log;
using std::log10;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;

template <class T>
concept Whole = std::same_as<T, bool> || std::signed_integral<T>;
template <class T>
concept Real = Whole<T> || std::floating_point<T>;

inline double atan2(double x, double y) { return std::atan2(x, y); }
inline double exp2(double x) { return std::exp2(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double lgamma(double x) { return std::lgamma(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double log2(double x) { return std::log2(x); }
inline double nextafter(double x, double y) { return std::nextafter(x, y); }

// Two's complement: sums, differences and products that overflow wrap, as the tensor operations do.
inline uint64_t bitsOf(int64_t x) { return static_cast<uint64_t>(x); }
inline int64_t negated(int64_t x) { return static_cast<int64_t>(0 - bitsOf(x)); }

template <Real T>
T absolute(T x) {
  if constexpr (std::floating_point<T>) {
    return std::abs(x);
  } else if constexpr (std::same_as<T, bool>) {
    return x;
  } else {
    return x < 0 ? negated(x) : x;
  }
}
inline double absolute(std::complex<double> x) { return std::abs(x); }

template <Whole T>
T ceil(T x) {
  return x;
}
template <Whole T>
T floor(T x) {
  return x;
}
template <Whole T>
T rint(T x) {
  return x;
}
template <Whole T>
T trunc(T x) {
  return x;
}
inline double ceil(double x) { return std::ceil(x); }
inline double floor(double x) { return std::floor(x); }
inline double rint(double x) { return std::nearbyint(x); }
inline double trunc(double x) { return std::trunc(x); }

inline bool complement(bool x) { return !x; }
inline int64_t complement(int64_t x) { return ~x; }

template <Real T>
bool isfinite(T x) {
  return std::isfinite(static_cast<double>(x));
}
inline bool isfinite(std::complex<double> x) { return isfinite(x.real()) && isfinite(x.imag()); }
template <Real T>
bool isinf(T x) {
  return std::isinf(static_cast<double>(x));
}
inline bool isinf(std::complex<double> x) { return isinf(x.real()) || isinf(x.imag()); }
template <Real T>
bool isnan(T x) {
  return std::isnan(static_cast<double>(x));
}
inline bool isnan(std::complex<double> x) { return isnan(x.real()) || isnan(x.imag()); }
template <Real T>
bool isneginf(T x) {
  return isinf(x) && x < T(0);
}
template <Real T>
bool isposinf(T x) {
  return isinf(x) && x > T(0);
}
template <Real T>
bool isreal(T /*x*/) {
  return true;
}
inline bool isreal(std::complex<double> x) { return x.imag() == 0.0; }

template <Real T>
T realPart(T x) {
  return x;
}
inline double realPart(std::complex<double> x) { return x.real(); }
inline std::complex<double> makeComplex(double x, double y) { return {x, y}; }

template <Real T>
T relu(T x) {
  return x <= T(0) ? T(0) : x;
}
template <Real T>
T sign(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}
template <Real T>
bool signbit(T x) {
  return std::signbit(static_cast<double>(x));
}

template <Real T>
T maximum(T x, T y) {
  return isnan(x) || x > y ? x : y;
}
template <Real T>
T minimum(T x, T y) {
  return isnan(x) || x < y ? x : y;
}

/// Thrown by integer divisions; who folds a call knows the operation's name.
struct ZeroDivisor : std::exception {};

// The most negative number divided by -1 wraps, as the tensor operation does.
inline int64_t divide(int64_t x, int64_t y) {
  if (y == 0) {
    throw ZeroDivisor();
  }
  return y == -1 ? negated(x) : x / y;
}
inline double divide(double x, double y) { return x / y; }
inline std::complex<double> divide(std::complex<double> x, std::complex<double> y) { return x / y; }

inline int64_t modulus(int64_t x, int64_t y) {
  if (y == 0) {
    throw ZeroDivisor();
  }
  return y == -1 ? 0 : x % y;
}
inline double modulus(double x, double y) { return std::fmod(x, y); }
template <class T>
  requires std::same_as<T, int64_t> || std::same_as<T, double>
T flooredModulus(T x, T y) {
  const T rest = modulus(x, y);
  return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
}

inline int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1;
  for (uint64_t square = bitsOf(base); exponent > 0; exponent /= 2, square *= square) {
    result *= exponent % 2 == 0 ? 1 : square;
  }
  return static_cast<int64_t>(result);
}
inline double power(double x, double y) { return std::pow(x, y); }
inline std::complex<double> power(std::complex<double> x, std::complex<double> y) {
  return std::pow(x, y);
}

inline int64_t gcd(int64_t x, int64_t y) {
  uint64_t a = bitsOf(absolute(x));
  uint64_t b = bitsOf(absolute(y));
  while (b != 0) {
    a = std::exchange(b, a % b);
  }
  return static_cast<int64_t>(a);
}

// Shifting by the width or more, or by a negative number, moves all bits out.
inline bool movesAllOut(int64_t count) { return bitsOf(count) >= 64; }
inline int64_t shiftLeft(int64_t x, int64_t count) {
  return movesAllOut(count) ? 0 : static_cast<int64_t>(bitsOf(x) << count);
}
inline int64_t shiftRight(int64_t x, int64_t count) {
  return x >> (movesAllOut(count) ? 63 : count);
}

}  // namespace meshfuse::scalar_math
