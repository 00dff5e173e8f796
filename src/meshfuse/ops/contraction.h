// What operations on several tensors share: the factors of paired and of single dimensions.
#pragma once

#include <string_view>

#include "meshfuse/ops/dim_map.h"

namespace meshfuse {

/// Gives dimension `dimA` of operand `a` and `dimB` of operand `b` one factor, stretching declared broadcasts; returns it
/// (empty if both are broadcasts).
DimFactors pairDims(DimMap& map, std::span<const TensorType> tensors, size_t a, int64_t dimA,
                    size_t b, int64_t dimB, FactorRole role, std::string_view op,
                    std::string_view what);

/// Gives dimension `dim` of operand `a` a factor of its own; returns it (empty for a broadcast).
DimFactors ownDim(DimMap& map, std::span<const TensorType> tensors, size_t a, int64_t dim,
                  FactorRole role = FactorRole::Parallel);

/// Products of `type` can be summed in it: refuses Bool.
void checkProductType(std::string_view op, PrimType type);

/// A broadcast of size 1, which stretches against larger sizes.
bool stretches(const IterDomain& domain);

}  // namespace meshfuse
