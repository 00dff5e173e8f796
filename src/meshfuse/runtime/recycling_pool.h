// Memory for large CPU results: freed blocks are kept and given out again.
#pragma once

#include <cstddef>
#include <cstdint>

#include <c10/core/Allocator.h>

namespace meshfuse {

/// Results larger than what small_blocks keeps. Fresh memory costs a page fault for each page written, several times what most
/// kernels take; kept memory costs nothing. A freed block is kept for the next request of its size class (an eighth more at
/// most), up to a cap over all blocks; those freed longest ago are given back first. All is given back, and the request tried
/// again, when the system has no memory left. A storage from it behaves as any other: it can be resized, shared between
/// processes, pinned, freed on another thread and in the child of a fork; memory profiles count it. Where the program has set a
/// CPU allocator of its own, or the cap is 0, torch's current one is used, as it is for blocks of up to kLargestSmallBlock bytes.
c10::Allocator& recyclingPool();

/// In bytes and blocks. `reserved` is what the system has given: the blocks in use, rounded up to their classes, and the kept
/// ones. `inUse` counts what was asked for.
struct RecyclingPoolStatistics {
  uint64_t inUseBytes = 0;
  uint64_t peakInUseBytes = 0;
  uint64_t keptBytes = 0;
  uint64_t keptBlocks = 0;
  uint64_t reservedBytes = 0;
  uint64_t capBytes = 0;
  /// Requests served by a kept block, and the others.
  uint64_t hits = 0;
  uint64_t misses = 0;
  /// Blocks returned to the system.
  uint64_t givenBackBytes = 0;
  uint64_t givenBackBlocks = 0;
};
RecyclingPoolStatistics recyclingPoolStatistics();

/// Gives kept blocks back to the system, those freed longest ago first, until at most `keepBytes` are kept. Returns the bytes
/// that went.
uint64_t trimRecyclingPool(uint64_t keepBytes = 0);

/// The most that is kept: at first `$MESHFUSE_POOL_BYTES`, or a quarter of the memory this process can have and at most 4 GiB.
/// 0 switches the pool off. What is kept above the cap is given back at once.
void setRecyclingPoolCap(uint64_t bytes);

/// From now on the peak is that of the blocks in use now and later.
void resetRecyclingPoolPeak();

}  // namespace meshfuse
