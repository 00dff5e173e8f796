#include "meshfuse/runtime/global_strides.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "meshfuse/base/memory_order.h"

namespace meshfuse {

c10::DimVector globalStridesOf(std::span<const int64_t> globalSizes,
                               c10::IntArrayRef localStrides) {
  const size_t rank = globalSizes.size();
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), int64_t{0});
  sortOutermostFirst(order, localStrides);
  c10::DimVector strides(rank, 0);
  int64_t next = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    if (localStrides[*dim] != 0 || globalSizes[*dim] <= 1) {
      strides[*dim] = next;
      next *= std::max<int64_t>(globalSizes[*dim], 1);
    }
  }
  return strides;
}

}  // namespace meshfuse
