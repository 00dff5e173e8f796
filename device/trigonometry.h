// Trigonometric functions and their inverses. Those of float, and the inverses of double, are branch-free, so that loops over
// them vectorize.
#pragma once

#include "device/types.h"

namespace device {

// piece: Angle angleOf sineOf cosineOf
/// An angle between -π/4 and π/4, and the quarter turns that were taken off, a whole number.
struct Angle {
  float rest;
  float quarters;
};
/// x modulo a turn, for every float: 1/(2π) is cut into pieces so short that their products with a float's 24 bits are exact, and
/// whole turns are taken from each product.
MESHFUSE_DEVICE Angle angleOf(float x) {
  const double w = double(x);
  double a = w * 0x1.45f306cp-3;
  double b = w * 0x1.c9c882ap-31;
  double c = w * 0x1.4fe13a8p-61;
  double d = w * 0x1.f47d4d3p-88;
  double e = w * 0x1.dc0db62p-118;
  double f = w * 0x1.2b32788p-147;
  a -= __builtin_rint(a);
  b -= __builtin_rint(b);
  c -= __builtin_rint(c);
  d -= __builtin_rint(d);
  e -= __builtin_rint(e);
  f -= __builtin_rint(f);
  const double small = c + (d + (e + (f + w * 0x1.c820ff28b1d5fp-177)));
  const double quarters = __builtin_rint(4.0 * (a + b + small));
  const double turns = (__builtin_fma(quarters, -0.25, a) + b) + small;
  return {float(turns * 0x1.921fb54442d18p+2), float(quarters)};
}
MESHFUSE_DEVICE float sineOf(float r) {
  const float z = r * r;
  float p = __builtin_fmaf(z, -0.0001958537322934717F, 0.008332736790180206F);
  p = __builtin_fmaf(p, z, -0.166666641831398F);
  return __builtin_fmaf(p * z, r, r);
}
MESHFUSE_DEVICE float cosineOf(float r) {
  const float z = r * r;
  float p = __builtin_fmaf(z, 2.454541936458554e-05F, -0.0013888290850445628F);
  p = __builtin_fmaf(p, z, 0.0416666641831398F);
  p = __builtin_fmaf(p, z, -0.5F);
  return __builtin_fmaf(p, z, 1.0F);
}

// piece: turnedSine
/// The sine of `rest` and `quarters` quarter turns.
MESHFUSE_DEVICE float turnedSine(float rest, int32 quarters) {
  const float value = (quarters & 1) != 0 ? cosineOf(rest) : sineOf(rest);
  return floatOf(bitsOf(value) ^ (uint32(quarters & 2) << 30));
}

// piece: sin
MESHFUSE_DEVICE float sin(float x) {
  const Angle angle = angleOf(x);
  return x == 0.0F ? x : turnedSine(angle.rest, int32(angle.quarters));
}

// piece: cos
MESHFUSE_DEVICE float cos(float x) {
  const Angle angle = angleOf(x);
  return turnedSine(angle.rest, int32(angle.quarters) + 1);
}

// piece: tan
MESHFUSE_DEVICE float tan(float x) {
  const Angle angle = angleOf(x);
  const float sine = sineOf(angle.rest);
  const float cosine = cosineOf(angle.rest);
  const bool isOdd = (int32(angle.quarters) & 1) != 0;
  return x == 0.0F ? x : (isOdd ? -cosine : sine) / (isOdd ? sine : cosine);
}

// piece: sin, for double
static inline double sin(double x) { return __builtin_sin(x); }

// piece: cos, for double
static inline double cos(double x) { return __builtin_cos(x); }

// piece: tan, for double
static inline double tan(double x) { return __builtin_tan(x); }

// piece: quadrantAtan
/// The arc tangent of t ≥ 0: of 1/t above 1, and from tan(π/8) on the one of (t - 1) / (t + 1) on top of π/4.
MESHFUSE_DEVICE double quadrantAtan(double t) {
  const bool isSteep = t > 1.0;
  const double s = isSteep ? 1.0 / t : t;
  const bool isMiddle = s > 0x1.a827999fcef32p-2;
  const double u = isMiddle ? (s - 1.0) / (s + 1.0) : s;
  const double z = u * u;
  double p = -0x1.39df6e31870c8p-6;
  p = __builtin_fma(p, z, 0x1.41412472a5901p-5);
  p = __builtin_fma(p, z, -0x1.a08df84688f1fp-5);
  p = __builtin_fma(p, z, 0x1.dfe40fa193386p-5);
  p = __builtin_fma(p, z, -0x1.10fa56df5cb6dp-4);
  p = __builtin_fma(p, z, 0x1.3b1260b16a789p-4);
  p = __builtin_fma(p, z, -0x1.745d0b0ef2008p-4);
  p = __builtin_fma(p, z, 0x1.c71c71849b675p-4);
  p = __builtin_fma(p, z, -0x1.24924924351dfp-3);
  p = __builtin_fma(p, z, 0x1.9999999999338p-3);
  p = __builtin_fma(p, z, -0x1.5555555555555p-2);
  p = __builtin_fma(p * z, u, u);
  const double flat = isMiddle ? 0x1.921fb54442d18p-1 + (p + 0x1.1a62633145c07p-55) : p;
  return isSteep ? 0x1.921fb54442d18p+0 - (flat - 0x1.1a62633145c07p-54) : flat;
}

// piece: wideAtan
MESHFUSE_DEVICE double wideAtan(double x) {
  return __builtin_copysign(quadrantAtan(__builtin_fabs(x)), x);
}

// piece: atan
MESHFUSE_DEVICE float atan(float x) { return float(wideAtan(double(x))); }

// piece: atan, for double
MESHFUSE_DEVICE double atan(double x) { return wideAtan(x); }

// piece: wideAsin
MESHFUSE_DEVICE double wideAsin(double x) {
  return wideAtan(x / __builtin_sqrt((1.0 - x) * (1.0 + x)));
}

// piece: asin
MESHFUSE_DEVICE float asin(float x) { return float(wideAsin(double(x))); }

// piece: asin, for double
MESHFUSE_DEVICE double asin(double x) { return wideAsin(x); }

// piece: wideAcos
MESHFUSE_DEVICE double wideAcos(double x) {
  const double halved = quadrantAtan(__builtin_sqrt((1.0 - x) / (1.0 + x)));
  return halved + halved;
}

// piece: acos
MESHFUSE_DEVICE float acos(float x) { return float(wideAcos(double(x))); }

// piece: acos, for double
MESHFUSE_DEVICE double acos(double x) { return wideAcos(x); }

// piece: wideAtan2
MESHFUSE_DEVICE double wideAtan2(double y, double x) {
  const double absX = __builtin_fabs(x);
  const double absY = __builtin_fabs(y);
  const double ratio = absX == absY ? (absX == 0.0 ? 0.0 : 1.0) : absY / absX;
  const double inFront = quadrantAtan(ratio);
  const bool isBehind = __builtin_copysign(1.0, x) < 0.0;
  const double angle =
      isBehind ? 0x1.921fb54442d18p+1 - (inFront - 0x1.1a62633145c07p-53) : inFront;
  const bool isNan = (x != x) | (y != y);
  return isNan ? x + y : __builtin_copysign(angle, y);
}

// piece: atan2
MESHFUSE_DEVICE float atan2(float y, float x) { return float(wideAtan2(double(y), double(x))); }

// piece: atan2, for double
MESHFUSE_DEVICE double atan2(double y, double x) { return wideAtan2(y, x); }

}  // namespace device
