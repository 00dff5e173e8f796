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

std::vector<int64_t> denseStrides(std::span<const int64_t> sizes, std::span<const int64_t> order) {
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t next = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    strides[dim] = next;
    next *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

std::vector<int64_t> rowMajorStrides(std::span<const int64_t> sizes) {
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  return denseStrides(sizes, order);
}

}  // namespace meshfuse
