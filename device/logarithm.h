// Logarithms and powers. Each is branch-free, so that loops over it vectorize.
#pragma once

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

}  // namespace device
