#include "meshfuse/base/memory_order.h"

#include <algorithm>
#include <numeric>

namespace meshfuse {

void sortOutermostFirst(std::span<int64_t> dims, std::span<const int64_t> strides) {
  const auto strideOf = [&](int64_t dim) { return strides[static_cast<size_t>(dim)]; };
  std::ranges::sort(dims, [&](int64_t a, int64_t b) {
    return strideOf(a) != strideOf(b) ? strideOf(a) > strideOf(b) : a < b;
  });
}

std::vector<int64_t> outermostFirst(std::span<const int64_t> strides) {
  std::vector<int64_t> dims(strides.size());
  std::iota(dims.begin(), dims.end(), int64_t{0});
  sortOutermostFirst(dims, strides);
  return dims;
}

}  // namespace meshfuse
