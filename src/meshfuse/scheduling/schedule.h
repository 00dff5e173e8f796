// How the loops of one kernel run, for one set of sizes and strides: pure data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/scheduling/cost_model.h"
#include "meshfuse/scheduling/group.h"

namespace meshfuse {

/// One tensor that a kernel reads or writes, as its loops see it.
struct NestAccess {
  int64_t elementBytes = 0;
  bool isOutput = false;
  /// Elements from one iteration to the next, by loop; 0 for loops that the tensor does not vary along.
  std::vector<int64_t> strides = {};
};

/// The loops of a kernel with their sizes.
struct Nest {
  std::vector<int64_t> extents;
  std::vector<uint8_t> isReduced;
  std::vector<NestAccess> accesses;
  /// Arithmetic of one element, in units of an addition.
  int64_t work = 1;
  /// Rows of values that reductions are followed by, in bytes an element; 0 where nothing can be kept.
  int64_t rowBytes = 0;
  /// Whether loops alone say where what is read lies: tiles move it to where the lane finds it in order.
  bool readsByLoops = true;
  /// Whether values go from element to element of the reduced loop, which runs whole and in order.
  bool scans = false;
  /// Whether there are sums along all other loops than the reduced one, which is the lane then, whatever the strides are.
  bool sumsOuter = false;
};

/// Loops that run as one, outermost first: each is contiguous with the next in every tensor.
struct ScheduledLoop {
  std::vector<LoopId> loops = {};
  int64_t extent = 1;
  /// Of each access, along the innermost of the loops.
  std::vector<int64_t> strides = {};
};

/// Whether elements lie along another loop than the lane.
inline bool isTurned(int64_t stride, int64_t laneStride) noexcept {
  return stride == 1 && laneStride != 0 && laneStride != 1;
}

/// The iterations of `parallel` (outermost first) are divided among threads, and so are the blocks of the lane where it is not
/// reduced. In each, `serial` loops run around the lane, whose elements are computed side by side.
struct Schedule {
  /// Whether tiles of an access are read into a buffer.
  bool turns(size_t access, bool isOutput) const noexcept {
    return isTiled && !isOutput && isTurned(parallel.back().strides[access], lane.strides[access]);
  }

  std::vector<ScheduledLoop> parallel;
  std::vector<ScheduledLoop> serial;  // reduced
  ScheduledLoop lane;
  bool isLaneReduced = false;
  bool hasReduction = false;
  /// Values that a later pass over a row needs are kept in a buffer of kRowElements instead of computed again.
  bool keepsRows = false;
  /// Few iterations reduce much each: the outermost reduced loop is divided into `splits` parts of `splitSize`, whose partial
  /// results are combined in order. That depends on sizes alone, so that results are the same for any number of threads.
  bool isSplit = false;
  /// The innermost parallel loop and the lane run in tiles of tileRows by laneBlock: what lies along that loop in memory is read
  /// tile by tile into a buffer where it lies along the lane.
  bool isTiled = false;

  // Below: bound, not compiled in.
  int64_t laneBlock = 1;   // elements of the lane in one parallel iteration
  int64_t laneBlocks = 1;  // how many of those there are
  int64_t iterations = 0;  // parallel iterations in all, before splitting
  int64_t splits = 1;
  int64_t splitSize = 0;
  int64_t tileRows = 1;
  int64_t partRows =
      0;  // parallel iterations that leave one row of each outer sum; 0 without such sums
  int64_t grain = 1;        // the fewest of them that are worth a thread
  bool streams = false;     // results are written past the caches
  bool prefetches = false;  // what is read next is asked for while this is computed
};

/// The schedule of a nest: loops ordered by the strides of what is written (read, where they are reduced), those that are one
/// run merged, and as the lane the loop along which most bytes are contiguous; tiles where others are read along another loop.
Schedule chooseSchedule(const Nest& nest, const CostModel& costs);

/// The part that is compiled in, as words: schedules of one nest with equal words have one kernel.
std::vector<int32_t> structureOf(const Schedule& schedule);

/// `parallel l0*l1 lane l2 reduced keeps rows`, the loops of that part.
std::string toText(const Schedule& schedule);

}  // namespace meshfuse
