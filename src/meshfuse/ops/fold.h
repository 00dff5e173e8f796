// Pointwise operations on numbers.
#pragma once

#include <optional>
#include <span>

#include "meshfuse/types/promotion.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// The result of row `row` of pointwise.def on numbers, computed by its device column in `types.compute` and given in
/// `types.result`. Integers wrap. nullopt where the compute type has no such operation (`<` of complex numbers).
std::optional<Scalar> foldRow(int32_t row, std::span<const Scalar> operands, OpTypes types);

}  // namespace meshfuse
