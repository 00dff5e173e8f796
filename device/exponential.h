// Exponentials and the functions made of them. Each is branch-free, so that loops over it vectorize.
#pragma once

#include "device/types.h"

namespace device {

// piece: lesser
/// GCC finds the instruction for it here, where it misses it in an expression that also converts.
MESHFUSE_DEVICE int32 lesser(int32 x, int32 y) { return x < y ? x : y; }

// piece: within
/// `x` brought between the float that has the bits `least`, which is negative, and the positive one with the bits `greatest`; NaN
/// stays. Comparing bits takes two instructions of vectors, where comparing floats takes eight: with NaNs moved past zero,
/// numbers of one sign are ordered as their bits are.
MESHFUSE_DEVICE float within(float x, uint32 least, uint32 greatest) {
  const uint32 bounded = uint32(lesser(int32(greatest + 0x7fffffu), int32(bitsOf(x) + 0x7fffffu)));
  const uint32 lower = least + 0x7fffffu;
  return floatOf((bounded < lower ? bounded : lower) - 0x7fffffu);
}

// piece: exp
/// The square of e^(x/2) = 2^n · e^(r/2): n is in half the exponent range, so that it needs no splitting, and results below the
/// normal numbers are rounded once.
MESHFUSE_DEVICE float exp(float x) {
  const float y = within(x, 0xc32e0000u, 0x432e0000u);  // ±174
  const float shifted = __builtin_fmaf(y, 0x1.715476p-1F, 0x1.8p23F);
  const float n = shifted - 0x1.8p23F;
  float r = __builtin_fmaf(n, -0x1.62e4p+0F, y);
  r = __builtin_fmaf(n, -0x1.7f7d1cp-19F, r);
  float p = 2.158533243346028e-05F;
  p = __builtin_fmaf(p, r, 0.00026152218924835324F);
  p = __builtin_fmaf(p, r, 0.0026042743120342493F);
  p = __builtin_fmaf(p, r, 0.020833151414990425F);
  p = __builtin_fmaf(p, r, 0.125F);
  p = __builtin_fmaf(p, r, 0.5F);
  const float scale = floatOf((bitsOf(shifted) << 23) + 0x3f800000u);
  const float root = __builtin_fmaf(scale * r, p, scale);
  return root * root;
}

// piece: exp2
MESHFUSE_DEVICE float exp2(float x) {
  const float y = within(x, 0xc3200000u, 0x43200000u);  // ±160
  const float n = __builtin_rintf(y);
  const float r = y - n;
  float p = 1.5297502613975666e-05F;
  p = __builtin_fmaf(p, r, 0.00015461677685379982F);
  p = __builtin_fmaf(p, r, 0.0013333501992747188F);
  p = __builtin_fmaf(p, r, 0.009618056006729603F);
  p = __builtin_fmaf(p, r, 0.05550410971045494F);
  p = __builtin_fmaf(p, r, 0.24022650718688965F);
  p = __builtin_fmaf(p, r, 0.6931471824645996F);
  p = __builtin_fmaf(p, r, 1.0F);
  // In two steps: 2^n itself may be no float.
  const int32 exponent = int32(n == n ? n : 0.0F);
  const int32 first = exponent >> 1;
  const float scale = floatOf(uint32(first + 127) << 23);
  return p * scale * floatOf(uint32(exponent - first + 127) << 23);
}

// piece: expm1
MESHFUSE_DEVICE float expm1(float x) {
  const float y = within(x, 0xc1f00000u, 0x42b20000u);  // -30, 89
  const float shifted = __builtin_fmaf(y, 0x1.715476p+0F, 0x1.8p23F);
  const float n = shifted - 0x1.8p23F;
  float r = __builtin_fmaf(n, -0x1.62e4p-1F, y);
  r = __builtin_fmaf(n, -0x1.7f7d1cp-20F, r);
  float p = 0.0013882522471249104F;
  p = __builtin_fmaf(p, r, 0.00836651399731636F);
  p = __builtin_fmaf(p, r, 0.04166720062494278F);
  p = __builtin_fmaf(p, r, 0.1666654348373413F);
  p = __builtin_fmaf(p, r, 0.5F);
  p = __builtin_fmaf(p * r, r, r);
  // Half of 2^n, which itself may be no float.
  const float scale = floatOf((bitsOf(shifted) << 23) + 0x3f000000u);
  const float result = __builtin_fmaf(scale, p, scale - 0.5F);
  const bool isSmall = __builtin_fabsf(x) < 0x1p-26F;
  return isSmall ? x : result + result;
}

// piece: tanh
/// e / (e + 2) with e = e^(2|x|) - 1.
MESHFUSE_DEVICE float tanh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float y = magnitude > 10.0F ? 10.0F : magnitude;
  const float shifted = __builtin_fmaf(y, 0x1.715476p+1F, 0x1.8p23F);
  const float n = shifted - 0x1.8p23F;
  // Half of the remainder; where n is large enough for the constant's error to count, the result is near 1.
  const float h = __builtin_fmaf(n, -0x1.62e430p-2F, y);
  float p = 0.08884814381599426F;
  p = __builtin_fmaf(p, h, 0.26772844791412354F);
  p = __builtin_fmaf(p, h, 0.6666752099990845F);
  p = __builtin_fmaf(p, h, 1.3333234786987305F);
  p = __builtin_fmaf(p, h, 2.0F);
  p = __builtin_fmaf(p * h, h, h + h);
  const float scale = floatOf((bitsOf(shifted) << 23) + 0x3f800000u);
  const float e = __builtin_fmaf(scale, p, scale - 1.0F);
  return __builtin_copysignf(e / (e + 2.0F), x);
}

// piece: scaledByPower
/// (1 + p) · 2^n, in two steps: 2^n itself may be no double.
MESHFUSE_DEVICE double scaledByPower(double p, double n) {
  const double shifted = __builtin_fma(n, 0.5, 0x1.8p52);
  const double first = doubleOf((bitsOf(shifted) << 52) + 0x3ff0000000000000u);
  const double rest = (n - (shifted - 0x1.8p52)) + 0x1.8p52;
  const double second = doubleOf((bitsOf(rest) << 52) + 0x3ff0000000000000u);
  return __builtin_fma(first, p, first) * second;
}

// piece: wideExp
MESHFUSE_DEVICE double wideExp(double x) {
  const double bounded = 720.0 < x ? 720.0 : x;
  const double y = -760.0 > bounded ? -760.0 : bounded;
  const double n = __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52) - 0x1.8p52;
  double r = __builtin_fma(n, -0x1.62e42feep-1, y);
  r = __builtin_fma(n, -0x1.a39ef35793c76p-33, r);
  double p = 0x1.af4134720f354p-26;
  p = __builtin_fma(p, r, 0x1.289876a2dbdc0p-22);
  p = __builtin_fma(p, r, 0x1.71de0a0471800p-19);
  p = __builtin_fma(p, r, 0x1.a019b31890abfp-16);
  p = __builtin_fma(p, r, 0x1.a01a01a8ba744p-13);
  p = __builtin_fma(p, r, 0x1.6c16c17a1c437p-10);
  p = __builtin_fma(p, r, 0x1.1111111110871p-7);
  p = __builtin_fma(p, r, 0x1.555555555394cp-5);
  p = __builtin_fma(p, r, 0x1.5555555555556p-3);
  p = __builtin_fma(p, r, 0x1.0000000000000p-1);
  p = __builtin_fma(p * r, r, r);
  return scaledByPower(p, n);
}

// piece: exp, for double
MESHFUSE_DEVICE double exp(double x) { return wideExp(x); }

// piece: wideExp2
MESHFUSE_DEVICE double wideExp2(double x) {
  const double bounded = 1100.0 < x ? 1100.0 : x;
  const double y = -1100.0 > bounded ? -1100.0 : bounded;
  const double n = (y + 0x1.8p52) - 0x1.8p52;
  const double r = y - n;
  double p = 0x1.e9d50e594c8e7p-32;
  p = __builtin_fma(p, r, 0x1.e6077e86b0792p-28);
  p = __builtin_fma(p, r, 0x1.b524fa5dd26a3p-24);
  p = __builtin_fma(p, r, 0x1.62bfd3d797fd1p-20);
  p = __builtin_fma(p, r, 0x1.ffcbfc673a9fdp-17);
  p = __builtin_fma(p, r, 0x1.43091309a4687p-13);
  p = __builtin_fma(p, r, 0x1.5d87fe78a5220p-10);
  p = __builtin_fma(p, r, 0x1.3b2ab6fba1d12p-7);
  p = __builtin_fma(p, r, 0x1.c6b08d704a0c2p-5);
  p = __builtin_fma(p, r, 0x1.ebfbdff82c599p-3);
  p = __builtin_fma(p, r, 0x1.62e42fefa39efp-1);
  return scaledByPower(p * r, n);
}

// piece: exp2, for double
MESHFUSE_DEVICE double exp2(double x) { return wideExp2(x); }

// piece: quarterExpm1
/// (e^x - 1) / 4, a double for x up to 710.6; the same for greater x.
MESHFUSE_DEVICE double quarterExpm1(double x) {
  const double bounded = 710.6 < x ? 710.6 : x;
  const double y = -50.0 > bounded ? -50.0 : bounded;
  const double shifted = __builtin_fma(y, 0x1.71547652b82fep+0, 0x1.8p52);
  const double n = shifted - 0x1.8p52;
  double r = __builtin_fma(n, -0x1.62e42feep-1, y);
  r = __builtin_fma(n, -0x1.a39ef35793c76p-33, r);
  double p = 0x1.af4134720f354p-26;
  p = __builtin_fma(p, r, 0x1.289876a2dbdc0p-22);
  p = __builtin_fma(p, r, 0x1.71de0a0471800p-19);
  p = __builtin_fma(p, r, 0x1.a019b31890abfp-16);
  p = __builtin_fma(p, r, 0x1.a01a01a8ba744p-13);
  p = __builtin_fma(p, r, 0x1.6c16c17a1c437p-10);
  p = __builtin_fma(p, r, 0x1.1111111110871p-7);
  p = __builtin_fma(p, r, 0x1.555555555394cp-5);
  p = __builtin_fma(p, r, 0x1.5555555555556p-3);
  p = __builtin_fma(p, r, 0x1.0000000000000p-1);
  p = __builtin_fma(p * r, r, r);
  const double scale = doubleOf((bitsOf(shifted) << 52) + 0x3fd0000000000000u);
  return __builtin_fma(scale, p, scale - 0.25);
}

// piece: expm1, for double
MESHFUSE_DEVICE double expm1(double x) {
  return __builtin_fabs(x) < 0x1p-54 ? x : quarterExpm1(x) * 4.0;
}

// piece: wideSinh
MESHFUSE_DEVICE double wideSinh(double x) {
  const double magnitude = __builtin_fabs(x);
  const double q = quarterExpm1(magnitude);
  const double part = q + q / __builtin_fma(q, 4.0, 1.0);
  return __builtin_copysign(magnitude < 0x1p-27 ? magnitude : part + part, x);
}

// piece: sinh
MESHFUSE_DEVICE float sinh(float x) { return float(wideSinh(double(x))); }

// piece: sinh, for double
MESHFUSE_DEVICE double sinh(double x) { return wideSinh(x); }

// piece: wideCosh
MESHFUSE_DEVICE double wideCosh(double x) {
  const double part = quarterExpm1(__builtin_fabs(x)) + 0.25;
  const double sum = part + 0.0625 / part;
  return sum + sum;
}

// piece: cosh
MESHFUSE_DEVICE float cosh(float x) { return float(wideCosh(double(x))); }

// piece: cosh, for double
MESHFUSE_DEVICE double cosh(double x) { return wideCosh(x); }

// piece: tanh, for double
MESHFUSE_DEVICE double tanh(double x) {
  const double magnitude = __builtin_fabs(x);
  const double q = quarterExpm1(magnitude > 20.0 ? 40.0 : magnitude + magnitude);
  return __builtin_copysign(magnitude < 0x1p-54 ? magnitude : q / (q + 0.5), x);
}

// piece: sigmoid
template <class T>
MESHFUSE_DEVICE auto sigmoid(T x) -> decltype(exp(x)) {
  return T(1) / (T(1) + exp(-x));
}

// piece: silu
template <class T>
MESHFUSE_DEVICE auto silu(T x) -> decltype(exp(x)) {
  return x / (T(1) + exp(-x));
}

}  // namespace device
