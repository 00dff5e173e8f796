#include "meshfuse/runtime/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace meshfuse {

namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
}

/// The lowest offset at which `bytes` are free; `taken` holds the blocks in use by offset.
int64_t lowestPlace(const std::map<int64_t, int64_t>& taken, int64_t bytes) {
  int64_t at = 0;
  for (const auto& [offset, size] : taken) {
    if (offset - at >= bytes) {
      break;
    }
    at = offset + size;
  }
  return at;
}

}  // namespace

MemoryPlan planMemory(std::span<const Lifetime> lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return lifetimes[a].first != lifetimes[b].first ? lifetimes[a].first < lifetimes[b].first
                                                    : a < b;
  });
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::map<int64_t, int64_t> taken;
  std::multimap<int32_t, int64_t> ends;  // last step of what is taken, and its offset
  for (size_t index : order) {
    const Lifetime& life = lifetimes[index];
    while (!ends.empty() && ends.begin()->first < life.first) {
      taken.erase(ends.begin()->second);
      ends.erase(ends.begin());
    }
    const int64_t bytes = aligned(life.bytes);
    if (bytes == 0) {
      continue;  // nothing is stored there
    }
    const int64_t at = lowestPlace(taken, bytes);
    plan.offsets[index] = at;
    plan.bytes = std::max(plan.bytes, at + bytes);
    taken.emplace(at, bytes);
    ends.emplace(life.last, at);
  }
  return plan;
}

}  // namespace meshfuse
