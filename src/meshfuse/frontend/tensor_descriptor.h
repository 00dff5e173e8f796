// From the sizes and strides of a tensor to what a definition says of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// How a tensor lies in memory: contiguity in allocation order, and the position of each dimension in memory (0 innermost).
struct TensorDescriptor {
  Contiguity contiguity;
  std::vector<int64_t> strideOrder;
};

/// The descriptor of a tensor with these sizes and strides (in elements). Dimensions are ordered by descending stride; one
/// of stride 0 keeps its own position. Dimensions of size 1 or stride 0 are broadcasts: contiguity nullopt. Throws
/// UserError(Runtime) for lists of different lengths and for negative sizes and strides.
TensorDescriptor computeTensorDescriptor(std::span<const int64_t> sizes,
                                         std::span<const int64_t> strides);

}  // namespace meshfuse
