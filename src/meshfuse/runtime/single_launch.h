// A run that is one launch of one kernel, without all that other programs need: host time is what small tensors take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <c10/util/SmallVector.h>

#include "meshfuse/runtime/allocation.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/cpu_kernel.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// What kernels report where they fail: `call` says which one of several runs.
struct KernelStatus {
  int64_t dividedByZero = 0;
  int64_t call = 0;
  int64_t outside = 0;
};

/// Calls a kernel for the iterations, by several threads where they are more than `grain`.
void runIterations(CpuKernelFunction entry, void** pointers, const int64_t* integers,
                   const void* numbers, int64_t iterations, int64_t grain);

/// A kernel that takes tensors alone, cannot fail, and makes nothing but results. What a run reads of it lies together.
struct SingleLaunch {
  static constexpr size_t kMostTensors = 15;

  CpuKernelFunction entry = nullptr;
  int64_t iterations = 0;
  int64_t grain = 0;
  /// By tensor of the kernel: the position of an argument, or -1 - that of a result.
  c10::SmallVector<int32_t, kMostTensors> tensors;
  std::vector<int64_t> integers;
  std::vector<FreshLayout> results;

  /// Appends the results.
  void run(std::span<const ArgView> args, c10::SmallVectorImpl<PolymorphicValue>& values) const;
};

}  // namespace meshfuse
