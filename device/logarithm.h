// Logarithms and powers. Each is branch-free, so that loops over it vectorize.
#pragma once

#include "device/exponential.h"
#include "device/types.h"

namespace device {

// piece: LogParts logParts logTail logSpecial
/// x = 2^exponent · (1 + rest), with 1 + rest between √½ and √2.
struct LogParts {
  float exponent;
  float rest;
};
MESHFUSE_DEVICE LogParts logParts(float x) {
  const bool isSubnormal = x < 0x1p-126F;
  const uint32 bits = bitsOf(isSubnormal ? x * 0x1p25F : x);
  const uint32 shifted = bits - 0x3f3504f3u;
  const float rest = floatOf((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0F;
  return {float(int32(shifted) >> 23) - (isSubnormal ? 25.0F : 0.0F), rest};
}
/// log(1 + f) - f, f between √½ - 1 and √2 - 1.
MESHFUSE_DEVICE float logTail(float f) {
  float q = 0.06969103962182999F;
  q = __builtin_fmaf(q, f, -0.11513431370258331F);
  q = __builtin_fmaf(q, f, 0.1170160248875618F);
  q = __builtin_fmaf(q, f, -0.12422359734773636F);
  q = __builtin_fmaf(q, f, 0.14247217774391174F);
  q = __builtin_fmaf(q, f, -0.166678786277771F);
  q = __builtin_fmaf(q, f, 0.20000767707824707F);
  q = __builtin_fmaf(q, f, -0.2499999701976776F);
  q = __builtin_fmaf(q, f, 0.3333333134651184F);
  q = __builtin_fmaf(q, f, -0.5F);
  return q * f * f;
}
/// The result, but for operands without a finite logarithm.
MESHFUSE_DEVICE float logSpecial(float x, float result) {
  const float infinity = __builtin_inff();
  const float nonNegative = x == 0.0F ? -infinity : x < infinity ? result : x;
  return x < 0.0F ? __builtin_nanf("") : nonNegative;
}

// piece: log
MESHFUSE_DEVICE float log(float x) {
  const LogParts parts = logParts(x);
  const float tail = __builtin_fmaf(parts.exponent, 0x1.7f7d1cp-20F, logTail(parts.rest));
  return logSpecial(x, __builtin_fmaf(parts.exponent, 0x1.62e4p-1F, parts.rest + tail));
}

// piece: log2
MESHFUSE_DEVICE float log2(float x) {
  const LogParts parts = logParts(x);
  const float rest = parts.rest + logTail(parts.rest);
  return logSpecial(x, __builtin_fmaf(rest, 0x1.715476p+0F, parts.exponent));
}

// piece: log1p
MESHFUSE_DEVICE float log1p(float x) {
  const float sum = 1.0F + x;
  const LogParts parts = logParts(sum);
  // What rounding took from the sum.
  const float lost = sum > 2.0F ? 1.0F - (sum - x) : x - (sum - 1.0F);
  const float least = __builtin_fmaf(parts.exponent, 0x1.7f7d1cp-20F, lost / sum);
  const float tail = logTail(parts.rest) + least;
  const float result = __builtin_fmaf(parts.exponent, 0x1.62e4p-1F, parts.rest + tail);
  return __builtin_fabsf(x) < 0x1p-25F ? x : logSpecial(sum, result);
}

// piece: WideLogParts wideLogParts wideLogTail wideLogSpecial
/// As LogParts.
struct WideLogParts {
  double exponent;
  double rest;
};
MESHFUSE_DEVICE WideLogParts wideLogParts(double x) {
  const bool isSubnormal = x < 0x1p-1022;
  const uint64 bits = bitsOf(isSubnormal ? x * 0x1p54 : x);
  const uint64 shifted = bits - 0x3fe6a09e667f3bcdu;
  const double rest = doubleOf((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
  // The exponent by way of a double's last bits: 2048 keeps it positive.
  const double moved = doubleOf(((shifted + 0x4000000000000000u) >> 52) + 0x4338000000000000u);
  return {moved - (0x1.8p52 + 1024.0) - (isSubnormal ? 54.0 : 0.0), rest};
}
/// log(1 + f) - f with `least` added, f between √½ - 1 and √2 - 1.
MESHFUSE_DEVICE double wideLogTail(double f, double least) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 0x1.0ce198b9d3f64p-3;
  p = __builtin_fma(p, z, 0x1.0fa90a4f56a40p-3);
  p = __builtin_fma(p, z, 0x1.3b1d0668850f0p-3);
  p = __builtin_fma(p, z, 0x1.745cf51db7ab0p-3);
  p = __builtin_fma(p, z, 0x1.c71c720ad675ep-3);
  p = __builtin_fma(p, z, 0x1.24924924715c2p-2);
  p = __builtin_fma(p, z, 0x1.9999999999a5dp-2);
  p = __builtin_fma(p, z, 0x1.5555555555555p-1);
  const double square = 0.5 * f * f;
  return __builtin_fma(s, __builtin_fma(p, z, square), least) - square;
}
MESHFUSE_DEVICE double wideLogSpecial(double x, double result) {
  const double infinity = __builtin_inf();
  const double nonNegative = x == 0.0 ? -infinity : x < infinity ? result : x;
  return x < 0.0 ? __builtin_nan("") : nonNegative;
}

// piece: wideLog
MESHFUSE_DEVICE double wideLog(double x) {
  const WideLogParts parts = wideLogParts(x);
  const double tail = wideLogTail(parts.rest, parts.exponent * 0x1.a39ef35793c76p-33);
  return wideLogSpecial(x, __builtin_fma(parts.exponent, 0x1.62e42fee00000p-1, parts.rest + tail));
}

// piece: log, for double
MESHFUSE_DEVICE double log(double x) { return wideLog(x); }

// piece: wideLog2
MESHFUSE_DEVICE double wideLog2(double x) {
  const WideLogParts parts = wideLogParts(x);
  const double rest = parts.rest + wideLogTail(parts.rest, 0.0);
  return wideLogSpecial(x, __builtin_fma(rest, 0x1.71547652b82fep+0, parts.exponent));
}

// piece: log2, for double
MESHFUSE_DEVICE double log2(double x) { return wideLog2(x); }

// piece: wideLog10
MESHFUSE_DEVICE double wideLog10(double x) {
  const WideLogParts parts = wideLogParts(x);
  const double rest = parts.rest + wideLogTail(parts.rest, 0.0);
  const double low =
      __builtin_fma(rest, 0x1.bcb7b1526e50ep-2, parts.exponent * 0x1.f79fef311f12bp-34);
  return wideLogSpecial(x, __builtin_fma(parts.exponent, 0x1.3441350800000p-2, low));
}

// piece: log10
MESHFUSE_DEVICE float log10(float x) { return float(wideLog10(double(x))); }

// piece: log10, for double
MESHFUSE_DEVICE double log10(double x) { return wideLog10(x); }

// piece: wideLog1p
MESHFUSE_DEVICE double wideLog1p(double x) {
  const double sum = 1.0 + x;
  const WideLogParts parts = wideLogParts(sum);
  const double lost = sum > 2.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
  const double least = __builtin_fma(parts.exponent, 0x1.a39ef35793c76p-33, lost / sum);
  const double result = __builtin_fma(parts.exponent, 0x1.62e42fee00000p-1,
                                      parts.rest + wideLogTail(parts.rest, least));
  return __builtin_fabs(x) < 0x1p-54 ? x : wideLogSpecial(sum, result);
}

// piece: log1p, for double
MESHFUSE_DEVICE double log1p(double x) { return wideLog1p(x); }

// piece: wideAsinh
MESHFUSE_DEVICE double wideAsinh(double x) {
  const double a = __builtin_fabs(x);
  const bool isLarge = a > 0x1p28;
  const double b = isLarge ? 1.0 : a;
  const double near = wideLog1p(b + b * b / (1.0 + __builtin_sqrt(b * b + 1.0)));
  return __builtin_copysign(isLarge ? wideLog(a) + 0x1.62e42fefa39efp-1 : near, x);
}

// piece: asinh
MESHFUSE_DEVICE float asinh(float x) { return float(wideAsinh(double(x))); }

// piece: asinh, for double
MESHFUSE_DEVICE double asinh(double x) { return wideAsinh(x); }

// piece: wideAcosh
MESHFUSE_DEVICE double wideAcosh(double x) {
  const bool isLarge = x > 0x1p28;
  const double t = isLarge ? 1.0 : x - 1.0;
  const double near = wideLog1p(t + __builtin_sqrt(t + t + t * t));
  const double result = isLarge ? wideLog(x) + 0x1.62e42fefa39efp-1 : near;
  return x < 1.0 ? __builtin_nan("") : result;
}

// piece: acosh
MESHFUSE_DEVICE float acosh(float x) { return float(wideAcosh(double(x))); }

// piece: acosh, for double
MESHFUSE_DEVICE double acosh(double x) { return wideAcosh(x); }

// piece: wideAtanh
MESHFUSE_DEVICE double wideAtanh(double x) {
  const double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * wideLog1p((a + a) / (1.0 - a)), x);
}

// piece: atanh
MESHFUSE_DEVICE float atanh(float x) { return float(wideAtanh(double(x))); }

// piece: atanh, for double
MESHFUSE_DEVICE double atanh(double x) { return wideAtanh(x); }

// piece: power
/// 2^(y log2|x|) in double, and the cases that C names.
MESHFUSE_DEVICE float power(float x, float y) {
#ifdef __GNUC__
  if (__builtin_constant_p(y) && y == 2.0F) {
    return x * x;
  }
#endif
  const double base = double(x);
  const double exponent = double(y);
  const double magnitude = wideExp2(exponent * wideLog2(__builtin_fabs(base)));
  const double halved = 0.5 * exponent;
  const bool isWhole = __builtin_rint(exponent) == exponent;
  const bool isOdd = isWhole & (__builtin_rint(halved) != halved);
  const double withSign = isOdd ? __builtin_copysign(magnitude, base) : magnitude;
  const bool isRoot = (base < 0.0) & (base != -__builtin_inf()) & !isWhole;
  const double result = isRoot ? __builtin_nan("") : withSign;
  const bool isTurn = (base == -1.0) & (__builtin_fabs(exponent) == __builtin_inf());
  const bool isOne = (exponent == 0.0) | (base == 1.0) | isTurn;
  return float(isOne ? 1.0 : result);
}

// piece: power, for double
static inline double power(double x, double y) { return __builtin_pow(x, y); }

}  // namespace device
