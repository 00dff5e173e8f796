// A fusion as the Python text that defines it.
#pragma once

#include <string>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// The source of `def nvfuser_fusion(fd : FusionDefinition) -> None :`, which, called inside the block of a new definition,
/// makes the same definition: same inputs, sizes, strides, calls and outputs. Names are those of the fusion's printed form.
std::string definitionSource(const Fusion& fusion);

/// A value as its handle prints it: `tv0: Float[i0, 4]`, `c0: Double`, `c1: Int = 3`.
std::string describeValue(const Fusion& fusion, ValId id);

}  // namespace meshfuse
