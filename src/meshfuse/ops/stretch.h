// What broadcast_in_dim and expand share: dimensions placed among new ones and stretched.
#pragma once

#include "meshfuse/ops/arguments.h"

namespace meshfuse {

/// The map of a call whose operand's dimension i becomes dimension places[i] of a result of `shape`; -1 keeps a size. Declared
/// broadcasts stretch, new dimensions are expanded broadcasts. Throws UserError(Runtime) naming the op where a size that does
/// not stretch differs, and for a new dimension without a size.
DimMap stretchDimMap(const OpCall& call, const std::vector<IntExpr>& shape, const Ints& places);

}  // namespace meshfuse
