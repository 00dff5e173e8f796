#include "meshfuse/runtime/allocation.h"

#include <c10/core/StorageImpl.h>

#include "meshfuse/runtime/small_blocks.h"

namespace meshfuse {

at::Tensor allocateCpu(const FreshLayout& layout) {
  c10::Allocator* allocator = &smallBlockAllocator();
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), layout.bytes,
      allocator->allocate(static_cast<size_t>(layout.bytes)), allocator,
      /*resizable=*/true);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(std::move(storage)), c10::DispatchKeySet(c10::DispatchKey::CPU), layout.dtype);
  // A new TensorImpl has sizes [0].
  if (layout.sizes.size() != 1 || layout.sizes[0] != 0) {
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(layout.sizes, layout.strides);
  }
  return tensor;
}

c10::DataPtr temporaryMemory(int64_t bytes) {
  return smallBlockAllocator().allocate(static_cast<size_t>(bytes));
}

}  // namespace meshfuse
