// Element types of generated code: what a number of each looks like in memory, and its bits.
//
// The files of this folder are text that generated kernels carry, compiled on the user's machine; docs/device_text.md
// says by which rules they are written and what a line like the next means.
#pragma once

namespace device {

// piece:
#ifdef __CUDACC__
#define MESHFUSE_DEVICE_MEMBER __device__ __forceinline__
#else
#define MESHFUSE_DEVICE_MEMBER inline __attribute__((always_inline))
#endif
#define MESHFUSE_DEVICE static MESHFUSE_DEVICE_MEMBER
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
using int8 = signed char;
using uint8 = unsigned char;
using int16 = short;
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned;
#ifdef __INT64_TYPE__
using int64 = __INT64_TYPE__;
using uint64 = __UINT64_TYPE__;
#else
using int64 = long;
using uint64 = unsigned long;
#endif

MESHFUSE_DEVICE uint32 bitsOf(float x) { return __builtin_bit_cast(uint32, x); }
MESHFUSE_DEVICE float floatOf(uint32 bits) { return __builtin_bit_cast(float, bits); }
MESHFUSE_DEVICE uint64 bitsOf(double x) { return __builtin_bit_cast(uint64, x); }
MESHFUSE_DEVICE double doubleOf(uint64 bits) { return __builtin_bit_cast(double, bits); }

// piece: isSame isFloating isStored isComplex
template <class A, class B>
constexpr bool isSame = false;
template <class A>
constexpr bool isSame<A, A> = true;
template <class T>
constexpr bool isFloating = isSame<T, float> || isSame<T, double>;
/// Types that are kept in memory and computed in float: T::of(float) rounds, wide() widens.
template <class T>
constexpr bool isStored = false;
template <class T>
constexpr bool isComplex = false;

// piece: UnsignedOf
/// The unsigned type as wide as a whole number's, in which overflow is defined.
template <class T>
struct UnsignedOf {
  using Type = uint64;
};
template <>
struct UnsignedOf<int32> {
  using Type = uint32;
};

// piece: boolean
/// A truth value in memory: compilers vectorize what depends on a comparison of a byte, not on a bool that they load.
struct boolean {
  uint8 bits;
};

// piece: bfloat16
struct bfloat16 {
  uint16 bits;

  MESHFUSE_DEVICE_MEMBER float wide() const { return floatOf(uint32(bits) << 16); }
  MESHFUSE_DEVICE bfloat16 of(float x) {
    const uint32 b = bitsOf(x);
    const uint32 rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return {uint16(x != x ? 0x7fc0u : rounded)};
  }
};
template <>
constexpr bool isStored<bfloat16> = true;

// piece: half
struct half {
  uint16 bits;

  MESHFUSE_DEVICE_MEMBER float wide() const {
    const uint32 magnitude = bits & 0x7fffu;
    const uint32 infinite = magnitude >= 0x7c00u ? 0x38000000u : 0u;
    const uint32 regular = (magnitude << 13) + 0x38000000u + infinite;
    // A subnormal half is the last bits of a number in [0.5, 1), less 0.5.
    const float subnormal = floatOf(magnitude | 0x3f000000u) - 0.5F;
    const uint32 b = magnitude < 0x400u ? bitsOf(subnormal) : regular;
    return floatOf(b | (uint32(bits & 0x8000u) << 16));
  }
  MESHFUSE_DEVICE half of(float x) {
    const uint32 b = bitsOf(x);
    const uint32 a = b & 0x7fffffffu;
    const uint32 regular = (a + 0xfffu + ((a >> 13) & 1u) - 0x38000000u) >> 13;
    const uint32 subnormal = bitsOf(floatOf(a) + 0.5F) - 0x3f000000u;
    const uint32 finite = a < 0x38800000u ? subnormal : regular;
    const uint32 special = a > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return {uint16((a >= 0x477ff000u ? special : finite) | ((b >> 16) & 0x8000u))};
  }
};
template <>
constexpr bool isStored<half> = true;

// piece: float8_e4m3fn
struct float8_e4m3fn {
  uint8 bits;

  MESHFUSE_DEVICE_MEMBER float wide() const {
    const uint32 magnitude = bits & 0x7fu;
    const uint32 regular = (magnitude << 20) + 0x3c000000u;
    const float subnormal = float(int32(magnitude)) * 0x1p-9F;
    const uint32 finite = magnitude < 8u ? bitsOf(subnormal) : regular;
    return floatOf((magnitude == 0x7fu ? 0x7fc00000u : finite) | (uint32(bits & 0x80u) << 24));
  }
  /// Finite numbers and infinities beyond the greatest become it.
  MESHFUSE_DEVICE float8_e4m3fn of(float x) {
    const uint32 b = bitsOf(x);
    const uint32 a = b & 0x7fffffffu;
    const uint32 regular = (a + 0x7ffffu + ((a >> 20) & 1u) - 0x3c000000u) >> 20;
    const uint32 subnormal = bitsOf(floatOf(a) + 0x1p14F) - 0x46800000u;
    const uint32 finite = a < 0x3c800000u ? subnormal : regular;
    const uint32 special = a > 0x7f800000u ? 0x7fu : 0x7eu;
    return {uint8((a > 0x43e00000u ? special : finite) | ((b >> 24) & 0x80u))};
  }
};
template <>
constexpr bool isStored<float8_e4m3fn> = true;

// piece: float8_e5m2
struct float8_e5m2 {
  uint8 bits;

  MESHFUSE_DEVICE_MEMBER float wide() const {
    const uint32 magnitude = bits & 0x7fu;
    const uint32 infinite = magnitude >= 0x7cu ? 0x38000000u : 0u;
    const uint32 regular = (magnitude << 21) + 0x38000000u + infinite;
    const float subnormal = float(int32(magnitude)) * 0x1p-16F;
    const uint32 b = magnitude < 4u ? bitsOf(subnormal) : regular;
    return floatOf(b | (uint32(bits & 0x80u) << 24));
  }
  MESHFUSE_DEVICE float8_e5m2 of(float x) {
    const uint32 b = bitsOf(x);
    const uint32 a = b & 0x7fffffffu;
    const uint32 regular = (a + 0xfffffu + ((a >> 21) & 1u) - 0x38000000u) >> 21;
    const uint32 subnormal = bitsOf(floatOf(a) + 0x1p7F) - 0x43000000u;
    const uint32 finite = a < 0x38800000u ? subnormal : regular;
    const uint32 special = a > 0x7f800000u ? 0x7fu : 0x7cu;
    return {uint8((a >= 0x47700000u ? special : finite) | ((b >> 24) & 0x80u))};
  }
};
template <>
constexpr bool isStored<float8_e5m2> = true;

// piece: float8_e8m0fnu
/// Powers of two from 2^-127 to 2^127, and NaN.
struct float8_e8m0fnu {
  uint8 bits;

  MESHFUSE_DEVICE_MEMBER float wide() const {
    const uint32 b = bits == 0u ? 0x00400000u : uint32(bits) << 23;
    return floatOf(bits == 0xffu ? 0x7fc00000u : b);
  }
  MESHFUSE_DEVICE float8_e8m0fnu of(float x) {
    const uint32 a = bitsOf(x) & 0x7fffffffu;
    const uint32 exponent = a >> 23;
    // Halves round up, but for the subnormal one.
    const uint32 rest = a & 0x7fffffu;
    const bool isUp = (rest > 0x400000u) | ((rest == 0x400000u) & (exponent > 0u));
    const uint32 up = isUp ? 1u : 0u;
    return {uint8(exponent == 0xffu ? exponent : exponent + up)};
  }
};
template <>
constexpr bool isStored<float8_e8m0fnu> = true;

// piece: float4_e2m1fn_x2
/// Two 4-bit floats. They are moved only.
struct float4_e2m1fn_x2 {
  uint8 bits;
};

// piece: complex
template <class T>
struct complex {
  using Part = T;
  T realPart_;
  T imagPart_;

  complex() = default;
  MESHFUSE_DEVICE_MEMBER complex(T re, T im = T(0)) : realPart_(re), imagPart_(im) {}
  MESHFUSE_DEVICE_MEMBER T real() const { return realPart_; }
  MESHFUSE_DEVICE_MEMBER T imag() const { return imagPart_; }
};
template <class T>
constexpr bool isComplex<complex<T>> = true;
template <class T>
MESHFUSE_DEVICE complex<T> operator+(complex<T> x, complex<T> y) {
  return {x.real() + y.real(), x.imag() + y.imag()};
}
template <class T>
MESHFUSE_DEVICE complex<T> operator-(complex<T> x, complex<T> y) {
  return {x.real() - y.real(), x.imag() - y.imag()};
}
template <class T>
MESHFUSE_DEVICE complex<T> operator-(complex<T> x) {
  return {-x.real(), -x.imag()};
}
template <class T>
MESHFUSE_DEVICE complex<T> operator*(complex<T> x, complex<T> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
/// Smith's method, which neither overflows nor loses small divisors.
template <class T>
MESHFUSE_DEVICE complex<T> operator/(complex<T> x, complex<T> y) {
  const T c = y.real();
  const T d = y.imag();
  const T absC = c < T(0) ? -c : c;
  const T absD = d < T(0) ? -d : d;
  const bool isFirst = absC >= absD;
  const T large = isFirst ? c : d;
  const T small = isFirst ? d : c;
  const bool isZero = (absC == T(0)) & (absD == T(0));
  const T ratio = small / large;
  const T scale = T(1) / (large + small * ratio);
  const T re = isFirst ? x.real() + x.imag() * ratio : x.real() * ratio + x.imag();
  const T im = isFirst ? x.imag() - x.real() * ratio : x.imag() * ratio - x.real();
  return {isZero ? x.real() / absC : re * scale, isZero ? x.imag() / absD : im * scale};
}
template <class T>
MESHFUSE_DEVICE bool operator==(complex<T> x, complex<T> y) {
  return (x.real() == y.real()) & (x.imag() == y.imag());
}
template <class T>
MESHFUSE_DEVICE bool operator!=(complex<T> x, complex<T> y) {
  return !(x == y);
}

}  // namespace device
