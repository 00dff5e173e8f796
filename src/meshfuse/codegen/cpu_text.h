// Loop IR as C++ for the CPU.
#pragma once

#include <string>

#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

/// A whole translation unit that exports `meshfuse_kernel(pointers, integers, numbers, begin, end)`, which runs the parallel
/// iterations [begin, end). pointers[0] is three int64_t: the first becomes 1 where an integer was divided by zero, the second is
/// the number of the call of a split kernel, from 0, the third becomes 1 where a position was outside of a tensor. Then come the first elements of the kernel's tensors, and of the tables of
/// partial results, one for each of partialFolds. integers are as bindIntegers gives them; numbers, 16 bytes each, hold a double or int64_t and
/// an imaginary part. The lane is a loop that the compiler vectorizes; the text is the same for the same kernel in any process.
std::string cpuText(const LoopKernel& kernel);

}  // namespace meshfuse
