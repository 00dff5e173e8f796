// From the sizes and strides of a tensor to what a definition says of it.
#include "meshfuse/frontend/tensor_descriptor.h"

#include <algorithm>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/memory_order.h"
#include "meshfuse/base/text.h"

namespace meshfuse {
namespace {

constexpr std::string_view kOp = "compute_tensor_descriptor";

void checkSizesAndStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (sizes.size() != strides.size()) {
    throwUser(ErrorKind::Runtime, {kOp, "sizes and strides must have one entry for each dimension",
                                   "got sizes " + toText(sizes) + " and strides " + toText(strides),
                                   "pass lists of the same length"});
  }
  const auto isNegative = [](int64_t value) { return value < 0; };
  if (std::ranges::any_of(sizes, isNegative)) {
    throwUser(ErrorKind::Runtime, {kOp, "sizes must not be negative", "got sizes " + toText(sizes),
                                   "pass the sizes of an actual tensor"});
  }
  if (std::ranges::any_of(strides, isNegative)) {
    throwUser(ErrorKind::Runtime,
              {kOp, "strides must not be negative", "got strides " + toText(strides),
               "pass the strides of an actual tensor, in elements"});
  }
}

/// The dimensions from the outermost in memory to the innermost; those of stride 0 stay at their places.
std::vector<int64_t> memoryOrder(std::span<const int64_t> strides) {
  std::vector<int64_t> order;
  order.reserve(strides.size());
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) {
      order.push_back(static_cast<int64_t>(d));
    }
  }
  sortOutermostFirst(order, strides);
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) {
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(d), static_cast<int64_t>(d));
    }
  }
  return order;
}

}  // namespace

TensorDescriptor computeTensorDescriptor(std::span<const int64_t> sizes,
                                         std::span<const int64_t> strides) {
  checkSizesAndStrides(sizes, strides);
  const size_t rank = sizes.size();
  const std::vector<int64_t> order = memoryOrder(strides);
  TensorDescriptor result{Contiguity(rank), std::vector<int64_t>(rank)};
  int64_t contiguousStride = 1;
  for (size_t position = rank; position-- > 0;) {
    const auto d = static_cast<size_t>(order[position]);
    result.strideOrder[d] = static_cast<int64_t>(rank - 1 - position);
    if (strides[d] == 0 || sizes[d] == 1) {
      continue;
    }
    result.contiguity[position] = strides[d] == contiguousStride;
    contiguousStride = sizes[d] * strides[d];
  }
  return result;
}

}  // namespace meshfuse
