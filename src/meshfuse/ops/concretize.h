// From symbolic sizes to the sizes of one call.
#pragma once

#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// What a bound input contributes to shapes: a tensor's global sizes, or a scalar's value (only integer scalars matter).
struct InputShape {
  std::vector<int64_t> sizes = {};             // tensors
  std::optional<Scalar> value = std::nullopt;  // scalars
};

/// The same fusion with every extent a constant. Checks sizes between inputs: throws UserError(Runtime) naming the op, the
/// operands and both sizes where they disagree. Value ids are kept.
Fusion concretize(const Fusion& fusion, std::span<const InputShape> inputs);

}  // namespace meshfuse
