// Exponentials and the functions made of them. Each is branch-free, so that loops over it vectorize.
#pragma once

#include "device/types.h"

namespace device {

// piece: exp
/// 2^n · e^r squared, with n the whole part of x / (2 ln 2): half the exponent range, so that n needs no splitting and results
/// below the normal numbers are rounded once.
MESHFUSE_DEVICE float exp(float x) {
  const float low = -174.0F > x ? -174.0F : x;
  const float y = 174.0F < low ? 174.0F : low;
  const float shifted = __builtin_fmaf(y, 0x1.715476p-1F, 0x1.8p23F);
  const float n = shifted - 0x1.8p23F;
  float r = __builtin_fmaf(y, 0.5F, n * -0x1.62e4p-1F);
  r = __builtin_fmaf(n, -0x1.7f7d1cp-20F, r);
  float p = 0.00019892991986125708F;
  p = __builtin_fmaf(p, r, 0.0013935451861470938F);
  p = __builtin_fmaf(p, r, 0.00833330862224102F);
  p = __builtin_fmaf(p, r, 0.04166644811630249F);
  p = __builtin_fmaf(p, r, 0.1666666716337204F);
  p = __builtin_fmaf(p, r, 0.5F);
  p = __builtin_fmaf(p * r, r, r);
  const float scale = floatOf((bitsOf(shifted) << 23) + 0x3f800000u);
  const float root = __builtin_fmaf(scale, p, scale);
  return root * root;
}

// piece: exp2
MESHFUSE_DEVICE float exp2(float x) {
  const float low = -160.0F > x ? -160.0F : x;
  const float y = 160.0F < low ? 160.0F : low;
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
  const float low = -30.0F > x ? -30.0F : x;
  const float y = 89.0F < low ? 89.0F : low;
  const float shifted = __builtin_fmaf(y, 0x1.715476p+0F, 0x1.8p23F);
  const float n = shifted - 0x1.8p23F;
  float r = __builtin_fmaf(n, -0x1.62e4p-1F, y);
  r = __builtin_fmaf(n, -0x1.7f7d1cp-20F, r);
  float p = 0.00019892991986125708F;
  p = __builtin_fmaf(p, r, 0.0013935451861470938F);
  p = __builtin_fmaf(p, r, 0.00833330862224102F);
  p = __builtin_fmaf(p, r, 0.04166644811630249F);
  p = __builtin_fmaf(p, r, 0.1666666716337204F);
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
  float p = 0.025463029742240906F;
  p = __builtin_fmaf(p, h, 0.089186891913414F);
  p = __builtin_fmaf(p, h, 0.26666587591171265F);
  p = __builtin_fmaf(p, h, 0.6666631698608398F);
  p = __builtin_fmaf(p, h, 1.3333333730697632F);
  p = __builtin_fmaf(p, h, 2.0F);
  p = __builtin_fmaf(p * h, h, h + h);
  const float scale = floatOf((bitsOf(shifted) << 23) + 0x3f800000u);
  const float e = __builtin_fmaf(scale, p, scale - 1.0F);
  return __builtin_copysignf(e / (e + 2.0F), x);
}

// piece: sigmoid
template <class T>
MESHFUSE_DEVICE T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

// piece: silu
template <class T>
MESHFUSE_DEVICE T silu(T x) {
  return x / (T(1) + exp(-x));
}

}  // namespace device
