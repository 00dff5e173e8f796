// Loop IR as C++ for the CPU.
#pragma once

#include <string>

#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

/// A whole translation unit that exports `meshfuse_kernel(pointers, integers, numbers, begin, end)`, which runs the parallel
/// iterations [begin, end). pointers[0] is an int64_t that becomes 1 where an integer was divided by zero; then come the first
/// elements of the kernel's tensors. integers are as bindIntegers gives them; numbers, 16 bytes each, hold a double or int64_t and
/// an imaginary part. The lane is a loop that the compiler vectorizes; the text is the same for the same kernel in any process.
std::string cpuText(const LoopKernel& kernel);

}  // namespace meshfuse
