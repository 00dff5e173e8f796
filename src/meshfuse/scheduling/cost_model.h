// The figures that the compiler decides by, in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace meshfuse {

/// Elements and bytes of buffers that kernels have on their stack: compiled in, and bounds of what a CostModel may say.
inline constexpr int64_t kRowElements = 16384;
inline constexpr int64_t kBlockElements = 2048;
inline constexpr int64_t kTileBytes = int64_t{128} * 1024;
/// Elements of a row that are made of partial rows together.
inline constexpr int64_t kOuterBlock = 64;

/// What decisions to join, recompute, keep, split and tile follow from. Work is counted in additions on one element, as the
/// records of operations do (workOf); some 50 of them take a nanosecond.
struct CostModel {
  // The machine.
  int64_t level2Bytes = 512 * 1024;
  int64_t lastLevelBytes = 16 * 1024 * 1024;
  int64_t threads = 1;
  /// Moving a byte to or from memory.
  int64_t workPerByte = 2;
  /// One launch more: some 25 nanoseconds.
  int64_t launchWork = 1280;
  /// Worth waking a thread for: some 5 microseconds.
  int64_t threadWork = 256 * 1024;

  // Kernels.
  /// The most calls in one: compilers take more than linear time in a function's length.
  size_t maxCalls = 512;
  /// A value is computed again in a later pass over a row for less than this, which a buffer costs.
  int64_t cheapWork = 3;
  /// The most calls that are computed in each kernel that reads their result, in the place of a read.
  size_t maxRepeatedCalls = 8;
  /// Independent kernels of the same loops become one where each takes less than so many launches, and where all together have
  /// no more tensors than this.
  int64_t maxMergedLaunches = 64;
  size_t maxMergedTensors = 24;

  // Loops.
  /// The longest row that is kept, in elements: two of Float fit a level-2 cache with what they are made from.
  int64_t rowElements = kRowElements;
  /// The most elements of a lane block next to reduced serial loops, whose accumulators stay in the level-1 cache.
  int64_t blockElements = kBlockElements;
  /// All buffers of a tile, a share of the level-2 cache. A tile is long where it is read, as each of its columns is in another
  /// page of memory, and as wide as a few cache lines that are written.
  int64_t tileBytes = kTileBytes;
  /// Loops with fewer iterations make no tile, and a tile with fewer rows is not divided among threads.
  int64_t leastTile = 8;
  int64_t fewTileRows = 64;
  /// Bytes that a tile writes to a row, and the most elements that it does.
  int64_t tileRunBytes = 256;
  int64_t mostTileColumns = 128;
  /// Reduced elements that make one part of a split reduction, and the parallel iterations that a kernel has which is not split.
  int64_t splitElements = 65536;
  int64_t splitIterations = 16;
  /// Rows that leave one row of an outer sum: as many as give so many parts for threads, but no more than these.
  int64_t outerParts = 64;
  int64_t mostPartRows = 32;
};

/// One line a figure of the machine and of joining.
std::string toText(const CostModel& costs);

}  // namespace meshfuse
