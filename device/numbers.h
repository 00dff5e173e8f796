// Arithmetic that C++ has no operator for, or that it leaves undefined for some numbers. Whole numbers wrap around (generated
// code is compiled with -fwrapv).
#pragma once

#include "device/types.h"

namespace device {

// piece: absolute
template <class T>
MESHFUSE_DEVICE T absolute(T x) {
  if constexpr (isSame<T, float>) {
    return __builtin_fabsf(x);
  } else if constexpr (isSame<T, double>) {
    return __builtin_fabs(x);
  } else if constexpr (isSame<T, bool> || isSame<T, uint64>) {
    return x;
  } else {
    return x < T(0) ? T(-x) : x;
  }
}

// piece: absolute, for complex
MESHFUSE_DEVICE float absolute(complex<float> x) {
  const double re = double(x.real());
  const double im = double(x.imag());
  const float length = float(__builtin_sqrt(re * re + im * im));
  const float infinity = __builtin_inff();
  const bool isInfinite =
      (__builtin_fabsf(x.real()) == infinity) | (__builtin_fabsf(x.imag()) == infinity);
  return isInfinite ? infinity : length;
}
MESHFUSE_DEVICE double absolute(complex<double> x) { return __builtin_hypot(x.real(), x.imag()); }

// piece: complement
// A return type that names the operation leaves the function out for types that lack it.
template <class T>
MESHFUSE_DEVICE auto complement(T x) -> decltype(T(~x)) {
  if constexpr (isSame<T, bool>) {
    return !x;
  } else {
    return ~x;
  }
}

// piece: ceil
template <class T>
MESHFUSE_DEVICE T ceil(T x) {
  return x;
}
MESHFUSE_DEVICE float ceil(float x) { return __builtin_ceilf(x); }
MESHFUSE_DEVICE double ceil(double x) { return __builtin_ceil(x); }

// piece: floor
template <class T>
MESHFUSE_DEVICE T floor(T x) {
  return x;
}
MESHFUSE_DEVICE float floor(float x) { return __builtin_floorf(x); }
MESHFUSE_DEVICE double floor(double x) { return __builtin_floor(x); }

// piece: rint
template <class T>
MESHFUSE_DEVICE T rint(T x) {
  return x;
}
MESHFUSE_DEVICE float rint(float x) { return __builtin_rintf(x); }
MESHFUSE_DEVICE double rint(double x) { return __builtin_rint(x); }

// piece: trunc
template <class T>
MESHFUSE_DEVICE T trunc(T x) {
  return x;
}
MESHFUSE_DEVICE float trunc(float x) { return __builtin_truncf(x); }
MESHFUSE_DEVICE double trunc(double x) { return __builtin_trunc(x); }

// piece: sqrt
MESHFUSE_DEVICE float sqrt(float x) { return __builtin_sqrtf(x); }
MESHFUSE_DEVICE double sqrt(double x) { return __builtin_sqrt(x); }

// piece: isnan
template <class T>
MESHFUSE_DEVICE bool isnan(T x) {
  return x != x;
}

// piece: isinf
template <class T>
MESHFUSE_DEVICE bool isinf(T x) {
  if constexpr (isComplex<T>) {
    return isinf(x.real()) | isinf(x.imag());
  } else if constexpr (isFloating<T>) {
    return (x == T(__builtin_inff())) | (x == T(-__builtin_inff()));
  } else {
    return false;
  }
}

// piece: isfinite
template <class T>
MESHFUSE_DEVICE bool isfinite(T x) {
  if constexpr (isComplex<T>) {
    return isfinite(x.real()) & isfinite(x.imag());
  } else if constexpr (isFloating<T>) {
    return x - x == T(0);
  } else {
    return true;
  }
}

// piece: hasOverflown
/// Whether a sum is not finite. The compiler takes it for what never happens: what is done about it is to be little code.
MESHFUSE_DEVICE bool hasOverflown(float sum) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
  return __builtin_expect_with_probability(long(!(sum - sum == 0)), 0, 1.0) != 0;
#endif
#endif
  return !(sum - sum == 0);
}

// piece: isposinf isneginf
template <class T>
MESHFUSE_DEVICE bool isposinf(T x) {
  return isFloating<T> & (x == T(__builtin_inff()));
}
template <class T>
MESHFUSE_DEVICE bool isneginf(T x) {
  return isFloating<T> & (x == T(-__builtin_inff()));
}

// piece: isreal
template <class T>
MESHFUSE_DEVICE bool isreal(T x) {
  if constexpr (isComplex<T>) {
    return x.imag() == 0;
  } else {
    return true;
  }
}

// piece: realPart
template <class T>
MESHFUSE_DEVICE auto realPart(T x) {
  if constexpr (isComplex<T>) {
    return x.real();
  } else {
    return x;
  }
}

// piece: makeComplex
MESHFUSE_DEVICE complex<float> makeComplex(float re, float im) { return {re, im}; }
MESHFUSE_DEVICE complex<double> makeComplex(double re, double im) { return {re, im}; }

// piece: relu
template <class T>
MESHFUSE_DEVICE auto relu(T x) -> decltype(T(x < T(0) ? T(0) : x)) {
  return x < T(0) ? T(0) : x;
}

// piece: sign
template <class T>
MESHFUSE_DEVICE auto sign(T x) -> decltype(T(x > T(0))) {
  return T(int32(x > T(0)) - int32(x < T(0)));
}

// piece: signbit
template <class T>
MESHFUSE_DEVICE auto signbit(T x) -> decltype(x < T(0)) {
  if constexpr (isSame<T, float>) {
    return int32(bitsOf(x)) < 0;
  } else if constexpr (isSame<T, double>) {
    return int64(bitsOf(x)) < 0;
  } else {
    return x < T(0);
  }
}

// piece: maximum
template <class T>
MESHFUSE_DEVICE auto maximum(T x, T y) -> decltype(T(x > y ? x : y)) {
  return ((x != x) | (x > y)) ? x : y;
}

// piece: minimum
template <class T>
MESHFUSE_DEVICE auto minimum(T x, T y) -> decltype(T(x < y ? x : y)) {
  return ((x != x) | (x < y)) ? x : y;
}

// piece: runningMaximum
/// The largest so far once `next` has come: NaN stays, and of equal numbers the later one counts.
template <class T>
MESHFUSE_DEVICE T runningMaximum(T soFar, T next) {
  return ((next >= soFar) | (next != next)) ? next : soFar;
}

// piece: runningMinimum
template <class T>
MESHFUSE_DEVICE T runningMinimum(T soFar, T next) {
  return ((next <= soFar) | (next != next)) ? next : soFar;
}

// piece: interpolate
/// From the nearer end, so that both ends are reached.
template <class T>
MESHFUSE_DEVICE T interpolate(T x, T y, T weight) {
  if constexpr (isFloating<T>) {
    const T magnitude = weight < T(0) ? -weight : weight;
    return magnitude < T(0.5) ? x + weight * (y - x) : y - (y - x) * (T(1) - weight);
  } else if constexpr (isComplex<T>) {
    const auto square = weight.real() * weight.real() + weight.imag() * weight.imag();
    return square < 0.25F ? x + weight * (y - x) : y - (y - x) * (T(1) - weight);
  } else {
    return x + weight * (y - x);
  }
}

// piece: isZeroDivisor
/// Whether `divide`, `modulus` and `flooredModulus` by y have no result. They don't trap: for whole numbers and y = 0 they give 0,
/// and generated code must report it. A loop keeps a flag, `hasZero |= isZeroDivisor(y)`, which vectorizes; the kernel hands it
/// back when it has run, and the caller raises ZeroDivision. Always false for other types, so that the flag costs nothing.
template <class T>
MESHFUSE_DEVICE bool isZeroDivisor(T y) {
  if constexpr (isSame<T, bool> || isFloating<T> || isComplex<T>) {
    return false;
  } else {
    return y == T(0);
  }
}

// piece: fusedMultiplyAdd
MESHFUSE_DEVICE float fusedMultiplyAdd(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
MESHFUSE_DEVICE double fusedMultiplyAdd(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}

// piece: smallWhole, for double
/// A whole number between -2^51 and 2^51, without the conversion that not every instruction set has for vectors.
MESHFUSE_DEVICE double smallWhole(int64 x) {
  return doubleOf(uint64(x) + bitsOf(0x1.8p+52)) - 0x1.8p+52;
}

// piece: divide
/// Truncated for whole numbers; the least one divided by -1 wraps. Bools divide as floats do, and are cast back.
template <class T>
MESHFUSE_DEVICE T divide(T x, T y) {
  if constexpr (isFloating<T> || isComplex<T>) {
    return x / y;
  } else if constexpr (isSame<T, bool>) {
    return x | !y;
  } else {
    const bool isTrap = (y == T(0)) | (y == T(-1));
    const T quotient = x / (isTrap ? T(1) : y);
    return y == T(0) ? T(0) : y == T(-1) ? T(-x) : quotient;
  }
}

// piece: quotientBy
/// x / y for many x that share y, whose reciprocal a compiler takes out of their loop: the estimate's rest, exact by fused
/// multiply-add, corrects it (Markstein, 1990), so that it rounds as a division does. A reciprocal that is not exact enough, of
/// very large or small y, is not used; that decision, too, is the same for all x.
template <class T>
MESHFUSE_DEVICE T quotientBy(T x, T y) {
  const T magnitude = y < T(0) ? -y : y;
  const bool isPlain = (magnitude > T(0x1p-100)) & (magnitude < T(0x1p100));
  const T reciprocal = T(1) / y;
  const T estimate = x * reciprocal;
  const T rest = fusedMultiplyAdd(-estimate, y, x);
  const T corrected = fusedMultiplyAdd(rest, reciprocal, estimate);
  // Infinities leave no rest, and an exact estimate keeps its sign where it is zero.
  const T quotient = (corrected == corrected) & (rest != T(0)) ? corrected : estimate;
  return isPlain ? quotient : x / y;
}

// piece: modulus
template <class T>
MESHFUSE_DEVICE auto modulus(T x, T y) -> decltype(T(x % y)) {
  return x % (((y == T(0)) | (y == T(-1))) ? T(1) : y);
}
static inline float modulus(float x, float y) { return __builtin_fmodf(x, y); }
static inline double modulus(double x, double y) { return __builtin_fmod(x, y); }

// piece: flooredModulus
template <class T>
MESHFUSE_DEVICE auto flooredModulus(T x, T y) -> decltype(modulus(x, y)) {
  const T rest = modulus(x, y);
  return ((rest != T(0)) & ((rest < T(0)) != (y < T(0)))) ? rest + y : rest;
}

// piece: power
/// Of whole numbers: negative exponents give 0, but for the bases 1 and -1.
template <class T>
MESHFUSE_DEVICE auto power(T base, T exponent) -> decltype(T(base % exponent)) {
  if constexpr (isSame<T, bool>) {
    return base | !exponent;
  } else {
    using Unsigned = typename UnsignedOf<T>::Type;
    Unsigned result = 1;
    Unsigned square = Unsigned(base);
    for (T rest = exponent; rest > 0; rest >>= 1) {
      result *= (rest & 1) != 0 ? square : Unsigned(1);
      square *= square;
    }
    const T negative = base == T(1)    ? T(1)
                       : base == T(-1) ? ((exponent & 1) != 0 ? T(-1) : T(1))
                                       : T(0);
    return exponent < T(0) ? negative : T(result);
  }
}

// piece: gcd
template <class T>
MESHFUSE_DEVICE auto gcd(T x, T y) -> decltype(T(x % y)) {
  using Unsigned = typename UnsignedOf<T>::Type;
  Unsigned a = x < T(0) ? Unsigned(0) - Unsigned(x) : Unsigned(x);
  Unsigned b = y < T(0) ? Unsigned(0) - Unsigned(y) : Unsigned(y);
  while (b != 0) {
    const Unsigned rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}

// piece: nextafter
static inline float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
static inline double nextafter(double x, double y) { return __builtin_nextafter(x, y); }

// piece: shiftLeft shiftRight logicalShiftRight
/// Shifts by the width or more, or by a negative number, move all bits out.
template <class T>
MESHFUSE_DEVICE auto shiftLeft(T x, T count) -> decltype(T(x >> count)) {
  using Unsigned = typename UnsignedOf<T>::Type;
  constexpr Unsigned kLast = sizeof(T) * 8 - 1;
  const Unsigned shifted = Unsigned(x) << (Unsigned(count) & kLast);
  return T(Unsigned(count) > kLast ? Unsigned(0) : shifted);
}
template <class T>
MESHFUSE_DEVICE auto shiftRight(T x, T count) -> decltype(T(x >> count)) {
  using Unsigned = typename UnsignedOf<T>::Type;
  constexpr Unsigned kLast = sizeof(T) * 8 - 1;
  return x >> T(Unsigned(count) > kLast ? kLast : Unsigned(count));
}
template <class T>
MESHFUSE_DEVICE auto logicalShiftRight(T x, T count) -> decltype(T(x >> count)) {
  using Unsigned = typename UnsignedOf<T>::Type;
  constexpr Unsigned kLast = sizeof(T) * 8 - 1;
  const Unsigned shifted = Unsigned(x) >> (Unsigned(count) & kLast);
  return T(Unsigned(count) > kLast ? Unsigned(0) : shifted);
}

}  // namespace device
