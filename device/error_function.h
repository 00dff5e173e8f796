// The error function, its relatives and inverses.
#pragma once

#include "device/exponential.h"
#include "device/logarithm.h"
#include "device/types.h"

namespace device {

// piece: erf
/// Below 1 a polynomial in the square, above it one less the eighth power of a polynomial (erfc's eighth root is smooth).
MESHFUSE_DEVICE float erf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float a = magnitude > 3.9375F ? 3.9375F : magnitude;
  const float t = a * a;
  float p = -0.0005631426465697587F;
  p = __builtin_fmaf(p, t, 0.004917552694678307F);
  p = __builtin_fmaf(p, t, -0.02671131305396557F);
  p = __builtin_fmaf(p, t, 0.11280180513858795F);
  p = __builtin_fmaf(p, t, -0.37612324953079224F);
  p = __builtin_fmaf(p, t, 0.12837912142276764F);
  const float near = __builtin_fmaf(p, a, a);
  float q = 0.00014911609468981624F;
  q = __builtin_fmaf(q, a, -0.0024621901102364063F);
  q = __builtin_fmaf(q, a, 0.01289437711238861F);
  q = __builtin_fmaf(q, a, -0.01130521297454834F);
  q = __builtin_fmaf(q, a, -0.06150776147842407F);
  q = __builtin_fmaf(q, a, -0.1450100839138031F);
  q = __builtin_fmaf(q, a, 1.0008219480514526F);
  q = q * q;
  q = q * q;
  const float far = 1.0F - q * q;
  return __builtin_copysignf(a < 1.0F ? near : far, x);
}

// piece: smallErf
/// erf(x) for |x| < 0.85.
MESHFUSE_DEVICE double smallErf(double x) {
  const double z = x * x;
  double p = -0x1.e5d4a2f4facb1p-31;
  p = __builtin_fma(p, z, 0x1.e78ce74511f33p-27);
  p = __builtin_fma(p, z, -0x1.5e0ceca83a2b8p-23);
  p = __builtin_fma(p, z, 0x1.b9c84aad92c94p-20);
  p = __builtin_fma(p, z, -0x1.f4d0a3d978b80p-17);
  p = __builtin_fma(p, z, 0x1.f9a31658993bep-14);
  p = __builtin_fma(p, z, -0x1.c02db3963408fp-11);
  p = __builtin_fma(p, z, 0x1.565bcd0cbcf76p-8);
  p = __builtin_fma(p, z, -0x1.b82ce31280af9p-6);
  p = __builtin_fma(p, z, 0x1.ce2f21a042aa4p-4);
  p = __builtin_fma(p, z, -0x1.812746b0379e6p-2);
  p = __builtin_fma(p, z, 0x1.06eba8214db69p-3);
  return __builtin_fma(p, x, x);
}

// piece: largeErfc
/// erfc(x) for x ≥ 0.5: e^(-x²) times a function that changes little, a polynomial in (x - 4) / (x + 4).
MESHFUSE_DEVICE double largeErfc(double x) {
  const double t = (x - 4.0) / (x + 4.0);
  double p = -0x1.67fa3128dee34p-27;
  p = __builtin_fma(p, t, -0x1.a403ddb107533p-27);
  p = __builtin_fma(p, t, 0x1.c5e4aa4a32304p-24);
  p = __builtin_fma(p, t, 0x1.1fde3f8d8313bp-24);
  p = __builtin_fma(p, t, -0x1.b99bb9bcb0974p-21);
  p = __builtin_fma(p, t, 0x1.41a5d9b6c3abbp-22);
  p = __builtin_fma(p, t, 0x1.7f19bc91ad5ccp-18);
  p = __builtin_fma(p, t, -0x1.78a3b73fcffbfp-17);
  p = __builtin_fma(p, t, -0x1.9958d66770982p-16);
  p = __builtin_fma(p, t, 0x1.3be0d61957f14p-13);
  p = __builtin_fma(p, t, -0x1.a1df222b3ca59p-13);
  p = __builtin_fma(p, t, -0x1.8d4aa17050e08p-11);
  p = __builtin_fma(p, t, 0x1.49c6727ace9e5p-8);
  p = __builtin_fma(p, t, -0x1.0962387dac933p-6);
  p = __builtin_fma(p, t, 0x1.3079edf6b9159p-5);
  p = __builtin_fma(p, t, -0x1.0fb06dfe6b25cp-4);
  p = __builtin_fma(p, t, 0x1.7fee004e106bdp-4);
  p = __builtin_fma(p, t, -0x1.9ddb23c3e7cf5p-4);
  p = __builtin_fma(p, t, 0x1.16ecefcfa547fp-4);
  p = __builtin_fma(p, t, 0x1.f7f5df66fd575p-7);
  p = __builtin_fma(p, t, -0x1.1df1ad154a28fp-3);
  p = __builtin_fma(p, t, 0x1.3ba5916e9fd7fp+0);
  const double square = x * x;
  const double lost = __builtin_fma(x, x, -square);
  const double decay = wideExp(-square);
  return __builtin_fma(-decay, lost, decay) * p / __builtin_fma(2.0, x, 1.0);
}

// piece: wideErf
MESHFUSE_DEVICE double wideErf(double x) {
  const double magnitude = __builtin_fabs(x);
  const double a = magnitude > 6.0 ? 6.0 : magnitude;
  const double small = smallErf(a);
  return __builtin_copysign(a < 0.75 ? small : 1.0 - largeErfc(a), x);
}

// piece: erf, for double
MESHFUSE_DEVICE double erf(double x) { return wideErf(x); }

// piece: wideErfc
MESHFUSE_DEVICE double wideErfc(double x) {
  const double magnitude = __builtin_fabs(x);
  const double a = magnitude > 28.0 ? 28.0 : magnitude;
  const double large = largeErfc(a);
  const double near = 1.0 - smallErf(x);
  return a < 0.5 ? near : x < 0.0 ? 2.0 - large : large;
}

// piece: erfc
MESHFUSE_DEVICE float erfc(float x) { return float(wideErfc(double(x))); }

// piece: erfc, for double
MESHFUSE_DEVICE double erfc(double x) { return wideErfc(x); }

// piece: wideErfinv inverseErf
/// y ≥ 0 with erf(y) = p and erfc(y) = q, p + q = 1 with p ≥ 0; the smaller of the two is accurate. A closed approximation good to
/// three digits, improved by Halley's method (four steps reach the last place in the far tail).
static inline double inverseErf(double p, double q) {
  const bool isTail = q < 0.5;
  const double logarithm = isTail ? wideLog(q * (1.0 + p)) : wideLog1p(-p * p);
  const double a = 4.330746750799873 + 0.5 * logarithm;
  const double b = -logarithm / 0.147;
  double y = __builtin_sqrt(b / (__builtin_sqrt(a * a + b) + a));
  for (int i = 0; i < 4; ++i) {
    const double difference = isTail ? q - wideErfc(y) : wideErf(y) - p;
    const double step = difference * 0x1.c5bf891b4ef6bp-1 * wideExp(y * y);
    y -= step / (1.0 + y * step);
  }
  return y;
}
static inline double wideErfinv(double x) {
  const double magnitude = __builtin_fabs(x);
  const double y = inverseErf(magnitude, 1.0 - magnitude);
  const double bounded = magnitude == 1.0 ? __builtin_inf() : y;
  return magnitude == 0.0 || magnitude > 1.0 ? (magnitude > 1.0 ? __builtin_nan("") : x)
                                             : __builtin_copysign(bounded, x);
}

// piece: erfinv
static inline float erfinv(float x) { return float(wideErfinv(double(x))); }

// piece: erfinv, for double
static inline double erfinv(double x) { return wideErfinv(x); }

// piece: wideErfcinv
static inline double wideErfcinv(double x) {
  const bool isUpper = x > 1.0;
  const double q = isUpper ? 2.0 - x : x;
  const double y = inverseErf(1.0 - q, q);
  const double inside = q == 0.0 ? __builtin_inf() : q == 1.0 ? 0.0 : y;
  return q < 0.0 ? __builtin_nan("") : isUpper ? -inside : inside;
}

// piece: erfcinv
static inline float erfcinv(float x) { return float(wideErfcinv(double(x))); }

// piece: erfcinv, for double
static inline double erfcinv(double x) { return wideErfcinv(x); }

// piece: lgamma
static inline float lgamma(float x) { return __builtin_lgammaf(x); }

// piece: lgamma, for double
static inline double lgamma(double x) { return __builtin_lgamma(x); }

}  // namespace device
