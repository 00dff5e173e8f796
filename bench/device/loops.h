// Loops over one array, compiled as generated code is.
#pragma once

#include <cstdint>

namespace meshfuse {

/// A function of device/ or of the C library, applied to an array of floats or of bfloat16s (as their bits).
struct ArrayFunction {
  const char* name;
  void (*device)(float* to, const float* from, int64_t size);
  void (*deviceBFloat16)(uint16_t* to, const uint16_t* from, int64_t size);
  void (*library)(float* to, const float* from, int64_t size);
};

inline constexpr int kArrayFunctions = 9;
extern const ArrayFunction arrayFunctions[kArrayFunctions];

}  // namespace meshfuse
