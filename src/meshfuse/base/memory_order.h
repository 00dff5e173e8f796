// The order of a tensor's dimensions in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace meshfuse {

/// Sorts dimensions from the outermost in memory to the innermost: by descending stride, dimensions of one stride by number.
/// `strides` has an entry for each dimension that `dims` names.
void sortOutermostFirst(std::span<int64_t> dims, std::span<const int64_t> strides);

/// All dimensions in that order.
std::vector<int64_t> outermostFirst(std::span<const int64_t> strides);

/// Strides of dense elements whose dimensions lie in memory in this order, outermost first.
std::vector<int64_t> denseStrides(std::span<const int64_t> sizes, std::span<const int64_t> order);

/// Those of the order of the dimensions themselves.
std::vector<int64_t> rowMajorStrides(std::span<const int64_t> sizes);

}  // namespace meshfuse
