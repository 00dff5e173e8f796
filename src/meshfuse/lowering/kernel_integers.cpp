#include "meshfuse/lowering/kernel_integers.h"

namespace meshfuse {

namespace {

bool isShifted(const LoopKernel& kernel, size_t tensor) {
  if (kernel.tensors[tensor].isIndex) {
    return !kernel.graph.indices[tensor - kernel.addressCount()].shift.empty();
  }
  return tensor < kernel.graph.reads.size() && !kernel.graph.reads[tensor].shift.empty();
}

}  // namespace

IntegerSlots integerSlots(const LoopKernel& kernel) {
  IntegerSlots slots;
  const auto take = [&slots](int32_t count = 1) {
    const int32_t at = slots.size;
    slots.size += count;
    return at;
  };
  slots.parallel = take(kernel.parallelLoops);
  slots.serial = take(kernel.serialLoops);
  slots.lane = take();
  slots.laneBlock = take();
  slots.laneBlocks = take();
  slots.streams = take();
  slots.prefetches = take();
  slots.count = take();
  slots.splits = take();
  slots.splitSize = take();
  slots.tileRows = take();
  if (!kernel.outerStores.empty()) {
    slots.rows = take();
    slots.partRows = take();
  }
  for (const LoopTensor& tensor : kernel.tensors) {
    std::vector<int32_t>& strides = slots.strides.emplace_back();
    const auto takeIfBound = [&](Step step) {
      strides.push_back(step == Step::Bound ? take() : -1);
    };
    for (Step step : tensor.parallel) {
      takeIfBound(step);
    }
    for (Step step : tensor.serial) {
      takeIfBound(step);
    }
    takeIfBound(tensor.lane);
  }
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const bool isPicked = i < kernel.graph.reads.size() && kernel.graph.reads[i].pickedDim >= 0;
    slots.picked.push_back(isPicked ? take(2) : -1);
    slots.shifts.push_back(isShifted(kernel, i) ? take() : -1);
  }
  for (const GraphPart& part : kernel.graph.parts) {
    slots.parts.push_back(take(static_cast<int32_t>(part.bounds.size())));
  }
  return slots;
}

std::vector<int64_t> bindIntegers(const IntegerSlots& slots, const Schedule& schedule,
                                  const BoundReads& reads) {
  std::vector<int64_t> table(static_cast<size_t>(slots.size), 0);
  const auto put = [&table](int32_t at, int64_t value) {
    if (at >= 0) {
      table[static_cast<size_t>(at)] = value;
    }
  };
  int64_t count = schedule.isLaneReduced ? schedule.lane.extent : 1;
  int32_t at = slots.parallel;
  for (const ScheduledLoop& loop : schedule.parallel) {
    put(at++, loop.extent);
  }
  at = slots.serial;
  for (const ScheduledLoop& loop : schedule.serial) {
    put(at++, loop.extent);
    count *= loop.extent;
  }
  put(slots.lane, schedule.lane.extent);
  put(slots.laneBlock, schedule.laneBlock);
  put(slots.laneBlocks, schedule.laneBlocks);
  put(slots.streams, schedule.streams ? 1 : 0);
  put(slots.prefetches, schedule.prefetches ? 1 : 0);
  put(slots.count, count);
  put(slots.splits, schedule.splits);
  put(slots.splitSize, schedule.splitSize);
  put(slots.tileRows, schedule.tileRows);
  put(slots.rows, schedule.iterations);
  put(slots.partRows, schedule.partRows);
  for (size_t tensor = 0; tensor < slots.strides.size(); ++tensor) {
    size_t loop = 0;
    const auto putStride = [&](const ScheduledLoop& scheduled) {
      put(slots.strides[tensor][loop++], scheduled.strides[tensor]);
    };
    for (const ScheduledLoop& scheduled : schedule.parallel) {
      putStride(scheduled);
    }
    for (const ScheduledLoop& scheduled : schedule.serial) {
      putStride(scheduled);
    }
    putStride(schedule.lane);
  }
  for (size_t tensor = 0; tensor < reads.picked.size(); ++tensor) {
    if (slots.picked[tensor] >= 0) {
      put(slots.picked[tensor], reads.picked[tensor].extent);
      put(slots.picked[tensor] + 1, reads.picked[tensor].stride);
    }
  }
  for (size_t tensor = 0; tensor < slots.shifts.size(); ++tensor) {
    put(slots.shifts[tensor], reads.shifts[tensor]);
  }
  for (size_t i = 0; i < reads.partSizes.size(); ++i) {
    put(slots.parts.front() + static_cast<int32_t>(i), reads.partSizes[i]);
  }
  return table;
}

}  // namespace meshfuse
