// What an input tensor may be declared as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Throws UserError(Runtime) unless the parts of a declaration fit together (Fusion::addInputTensor).
void checkInputType(std::span<const int64_t> shape, const Contiguity& contiguity,
                    std::span<const int64_t> strideOrder, bool isCpuScalar);

/// Whether the order is n-1, ..., 1, 0, which an empty one stands for.
bool isRowMajor(std::span<const int64_t> strideOrder) noexcept;

/// Position of logical dimension `dim` in a contiguity list, which is in allocation order, outermost first.
size_t allocationPosition(size_t dim, size_t rank, std::span<const int64_t> strideOrder) noexcept;

}  // namespace meshfuse
