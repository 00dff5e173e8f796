// The error function, its relatives and inverses.
#pragma once

#include "device/types.h"

namespace device {

// piece: erf
/// Below 1 a polynomial in the square, above it one less the eighth power of a polynomial (erfc's eighth root is smooth).
MESHFUSE_DEVICE float erf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float a = magnitude > 3.9375F ? 3.9375F : magnitude;
  const float t = a * a;
  float p = 7.875874871388078e-05F;
  p = __builtin_fmaf(p, t, -0.000801686430349946F);
  p = __builtin_fmaf(p, t, 0.005189087241888046F);
  p = __builtin_fmaf(p, t, -0.02685421146452427F);
  p = __builtin_fmaf(p, t, 0.11283594369888306F);
  p = __builtin_fmaf(p, t, -0.3761262595653534F);
  p = __builtin_fmaf(p, t, 0.12837916612625122F);
  const float near = __builtin_fmaf(p, a, a);
  float q = 1.5784482457092963e-05F;
  q = __builtin_fmaf(q, a, -4.153158442932181e-05F);
  q = __builtin_fmaf(q, a, -0.0014983097789809108F);
  q = __builtin_fmaf(q, a, 0.01024854276329279F);
  q = __builtin_fmaf(q, a, -0.007043512538075447F);
  q = __builtin_fmaf(q, a, -0.06553901731967926F);
  q = __builtin_fmaf(q, a, -0.142934650182724F);
  q = __builtin_fmaf(q, a, 1.0003728866577148F);
  q = q * q;
  q = q * q;
  const float far = 1.0F - q * q;
  return __builtin_copysignf(a < 1.0F ? near : far, x);
}

}  // namespace device
