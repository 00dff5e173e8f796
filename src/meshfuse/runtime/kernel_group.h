// A kernel group bound to sizes and strides: what is compiled, and the tables it is called with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/lowering/kernel_graph.h"
#include "meshfuse/lowering/kernel_integers.h"
#include "meshfuse/runtime/cpu_kernel.h"
#include "meshfuse/scheduling/schedule.h"

namespace meshfuse {

/// The local sizes and strides (in elements) of a tensor value.
struct TensorLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// The layouts of a program's tensors as they become known.
class TensorLayouts {
 public:
  explicit TensorLayouts(size_t vals) : layouts_(vals), isKnown_(vals, 0) {}

  bool isKnown(ValId val) const { return isKnown_[indexOf(val)] != 0; }
  const TensorLayout& operator[](ValId val) const { return layouts_[indexOf(val)]; }
  void set(ValId val, TensorLayout layout) {
    layouts_[indexOf(val)] = std::move(layout);
    isKnown_[indexOf(val)] = 1;
  }

 private:
  std::vector<TensorLayout> layouts_;
  std::vector<uint8_t> isKnown_;
};

/// A kernel for all sizes that are scheduled alike.
struct KernelVariant {
  std::vector<int32_t> structure;  // of its schedule
  std::string schedule;
  std::string loops;  // its loop IR in words
  IntegerSlots slots;
  std::vector<int64_t> partialBytes;  // of one partial result, by table of a split kernel
  int32_t calls = 1;
  bool lastCallIsSplit = false;
  bool sumsOuter = false;
  std::string text;
  std::shared_ptr<const CpuKernel> code;
};

/// How dense operands lie in memory, and how dense results do then: in each tensor the dimensions from the outermost to the
/// innermost, those of one element as -1 - dim. That holds for all sizes of a class.
struct MemoryOrders {
  std::vector<std::vector<int64_t>> reads;
  std::vector<std::vector<int64_t>> writes;
};

/// What is known of a kernel group before sizes are: its graph, and the variants that were needed so far.
struct KernelTemplate {
  Group group;
  KernelGraph graph;
  int64_t work = 1;      // as of Nest
  int64_t rowBytes = 0;  // as of Nest
  /// Whether results of row-major operands may lie in memory in another order.
  bool reorders = false;
  /// Whether whole numbers are divided.
  bool divides = false;
  std::vector<std::shared_ptr<KernelVariant>> variants;
  /// Those that were found so far.
  std::vector<MemoryOrders> orders = {};
};
KernelTemplate kernelTemplate(const Fusion& fusion, Group group);

/// One run of a kernel's loop over parallel iterations.
struct KernelRun {
  int64_t iterations = 0;
  int64_t grain = 1;  // the fewest of them that are worth a thread
};

/// One kernel of a program, bound to sizes and strides.
struct KernelLaunch {
  std::vector<ValId> tensors;  // reads, then writes
  size_t writes = 0;           // how many of them are written
  std::vector<ValId> numbers;
  std::vector<ExprId> seeds;  // of calls that draw one: numbers after those
  std::vector<int64_t> integers;
  std::vector<KernelRun> runs;
  /// Bytes of each table of partial results.
  std::vector<int64_t> partials;
  /// Bytes that it reads and writes.
  int64_t bytes = 0;
  /// Whether it has nothing to write.
  bool isIdle() const noexcept;
  std::vector<ExprId> calls;  // what it computes, in order
  /// Whether it may end in an error, which the evaluator throws.
  bool mayFail = false;
  /// Whether it reads at computed positions, and something is empty, so that not all of them are looked at.
  bool picksAmongNone = false;
  std::shared_ptr<KernelVariant> kernel;  // its code may be missing yet
};

/// The launch of a group whose tensors have these layouts. Adds a variant where none is like the schedule. `violations`, where
/// it is given, gets what is wrong with the schedule and the loops, in words.
KernelLaunch bindKernel(const Fusion& fusion, KernelTemplate& kernel, const TensorLayouts& layouts,
                        const CostModel& costs, std::vector<std::string>* violations = nullptr);

}  // namespace meshfuse
