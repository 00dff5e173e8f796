#include "meshfuse/runtime/single_launch.h"

#include <array>

#include <ATen/Parallel.h>

namespace meshfuse {

void runIterations(CpuKernelFunction entry, void** pointers, const int64_t* integers,
                   const void* numbers, int64_t iterations, int64_t grain) {
  if (iterations <= grain) {
    entry(pointers, integers, numbers, 0, iterations);
    return;
  }
  at::parallel_for(0, iterations, grain, [&](int64_t begin, int64_t end) {
    entry(pointers, integers, numbers, begin, end);
  });
}

void SingleLaunch::run(std::span<const ArgView> args,
                       c10::SmallVectorImpl<PolymorphicValue>& values) const {
  std::array<void*, kMostTensors> made;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  size_t count = 0;
  for (const FreshLayout& result : results) {
    at::Tensor tensor = allocateCpu(result);
    made[count++] = addressOf(*tensor.unsafeGetTensorImpl());
    values.emplace_back(std::move(tensor));
  }
  if (iterations == 0) {
    return;
  }
  KernelStatus status;
  std::array<void*, kMostTensors + 1> pointers;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  void** next = pointers.data();
  *next++ = &status;
  for (int32_t tensor : tensors) {
    *next++ = tensor >= 0 ? addressOf(*args[static_cast<size_t>(tensor)].tensor)
                          : made[static_cast<size_t>(-1 - tensor)];
  }
  runIterations(entry, pointers.data(), integers.data(), nullptr, iterations, grain);
}

}  // namespace meshfuse
