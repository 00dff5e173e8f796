// Fresh tensors for results, as cheap as torch's objects allow.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include "meshfuse/runtime/arg_view.h"

namespace meshfuse {

/// A row-major tensor to be made: `strides` are the contiguous strides of `sizes`, `bytes` its size in memory.
struct FreshLayout {
  c10::DimVector sizes;
  c10::DimVector strides;
  caffe2::TypeMeta dtype;
  int64_t bytes = 0;
};

/// An uninitialized CPU tensor, of recycled memory (small_blocks.h, recycling_pool.h).
at::Tensor allocateCpu(const FreshLayout& layout);

/// Memory of a tensor that is read or is fresh; `data()` would make lazy copies real, which neither needs.
inline void* addressOf(const c10::TensorImpl& tensor) noexcept {
  return const_cast<void*>(dataOf(tensor));
}

/// Uninitialized memory for a program's intermediates.
c10::DataPtr temporaryMemory(int64_t bytes);

}  // namespace meshfuse
