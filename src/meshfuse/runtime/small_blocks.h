// Memory for small CPU results: freed blocks are kept and given out again.
#pragma once

#include <cstddef>

#include <c10/core/Allocator.h>

namespace meshfuse {

/// torch's allocator asks the C library for aligned memory on every call, which is a third of what a small tensor costs. This
/// one keeps up to eight freed blocks of each size class on each thread (1 MiB in all) and frees them when the thread ends;
/// larger blocks are those of recyclingPool(). A storage from it behaves as any other: it can be resized, shared between processes, freed on
/// another thread; memory profiles count it. Where the program has set a CPU allocator of its own, that one is used.
c10::Allocator& smallBlockAllocator();

/// The largest block that is kept.
inline constexpr size_t kLargestSmallBlock = size_t{1} << 16;

/// Frees the calling thread's kept blocks, and returns their bytes.
size_t releaseSmallBlocks() noexcept;

}  // namespace meshfuse
