// Where intermediates lie in one block of memory, so that those that are not needed at the same time share it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace meshfuse {

/// An intermediate: needed from step `first` to step `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // multiples of kPlanAlignment, by lifetime
  int64_t bytes = 0;             // of the whole block
};

/// Vector loads and stores of a whole cache line are aligned.
inline constexpr int64_t kPlanAlignment = 64;

/// Gives each, in the order of their first steps, the lowest place that is free for as long as it lives.
MemoryPlan planMemory(std::span<const Lifetime> lifetimes);

}  // namespace meshfuse
