// Numbers of a call, as generated text reads them.
#pragma once

#include <cstdint>

#include "meshfuse/types/data_type.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// The struct `Number` of generated text: which member is set follows from the type that the kernel knows.
struct alignas(16) KernelNumber {
  union {
    double real;
    int64_t integer;
  };
  double imaginary;
};

/// The number as one of a kernel's type, whatever kind the caller's is.
KernelNumber kernelNumber(PrimType type, const Scalar& value);

}  // namespace meshfuse
