// The table of integers that a kernel is called with: sizes and strides, which are bound and not compiled in.
#pragma once

#include <cstdint>
#include <vector>

#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

/// Where each integer is in the table.
struct IntegerSlots {
  int32_t parallel = 0;  // extents of the parallel loops, outermost first
  int32_t serial = 0;    // … of the serial ones
  int32_t lane = 0;
  int32_t laneBlock = 0;
  int32_t laneBlocks = 0;
  int32_t streams = 0;
  int32_t prefetches = 0;
  int32_t count = 0;  // elements that a fold takes
  int32_t splits = 0;
  int32_t splitSize = 0;
  int32_t tileRows = 0;
  int32_t rows = -1;  // parallel iterations in all, where there are outer sums
  int32_t partRows = -1;
  /// By tensor and loop (parallel, serial, lane): the stride's place, -1 where it is not bound.
  std::vector<std::vector<int32_t>> strides;
  /// By tensor: the place of the picked dimension's extent, which its stride follows; -1 without one.
  std::vector<int32_t> picked;
  /// By tensor: the place of what is added to its address, or index, before any loop; -1 without.
  std::vector<int32_t> shifts;
  /// By part of the graph: the place of the size along its first bound, which those of the others follow.
  std::vector<int32_t> parts;
  int32_t size = 0;
};

IntegerSlots integerSlots(const LoopKernel& kernel);

/// The dimension of a tensor that has no loop since positions along it are computed.
struct PickedDim {
  int64_t extent = 0;
  int64_t stride = 0;
};

/// What is bound beside the schedule.
struct BoundReads {
  std::vector<PickedDim> picked =
      {};                            // by tensor; may lack ones at the end without such a dimension
  std::vector<int64_t> shifts = {};  // by tensor
  std::vector<int64_t> partSizes = {};  // of all bounds of all parts
};

/// The table for one binding of the kernel that has these slots, whose schedule is like the one it was lowered with.
std::vector<int64_t> bindIntegers(const IntegerSlots& slots, const Schedule& schedule,
                                  const BoundReads& reads);

}  // namespace meshfuse
