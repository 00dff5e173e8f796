// Fresh tensors for results, as cheap as torch's objects allow.
#pragma once

#include <span>

#include <ATen/core/Tensor.h>

namespace meshfuse {

/// An uninitialized row-major CPU tensor, of recycled memory (small_blocks.h, recycling_pool.h). `strides` are the contiguous strides of `sizes`, `bytes` its size in memory.
at::Tensor allocateCpu(c10::IntArrayRef sizes, c10::IntArrayRef strides, caffe2::TypeMeta dtype,
                       int64_t bytes);

/// Uninitialized memory for a program's intermediates.
c10::DataPtr temporaryMemory(int64_t bytes);

}  // namespace meshfuse
