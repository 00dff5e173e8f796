// Memory for large blocks, from the C library or the kernel.
#pragma once

#include <cstddef>

namespace meshfuse {

/// Blocks of this size and more start at a multiple of it, and the kernel is asked to back them by pages of this size: a page
/// fault then brings 512 times as much.
inline constexpr size_t kHugePage = size_t{2} << 20;

/// The size of the block that serves a request: at most an eighth more. There are eight sizes from one power of two to the next.
/// `bytes` is from 64 Ki + 1 to 2^62.
size_t blockBytes(size_t bytes) noexcept;
/// The place of a block's size among all sizes, from 0.
size_t blockClass(size_t blockBytes) noexcept;
/// More than the largest class.
inline constexpr size_t kBlockClasses = 384;
inline constexpr size_t kLargestBlock = size_t{1} << 62;

/// Bytes before each block for what its owner notes of it.
inline constexpr size_t kBlockNoteBytes = 64;

/// A block of `bytes`, one of the sizes above, aligned to 64 bytes at least. Null where there is no memory.
void* allocateBlock(size_t bytes) noexcept;
void releaseBlock(void* data, size_t bytes) noexcept;

}  // namespace meshfuse
