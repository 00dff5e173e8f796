// From symbolic sizes to the sizes of one call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// By input: whether it is a number that a size depends on.
std::vector<uint8_t> inputsThatSizesNeed(const Fusion& fusion);

/// What a bound input contributes to shapes: a tensor's global sizes, or a scalar's value (read where a size depends on it).
struct InputShape {
  std::vector<int64_t> sizes = {};             // tensors
  std::optional<Scalar> value = std::nullopt;  // scalars
};

/// The same fusion with every extent a constant, and with numbers in place of the scalars that sizes depend on or that ask for a
/// size. Checks sizes between inputs, and those of values against the inputs they are written into: throws UserError(Runtime)
/// naming the op, the operands and both sizes where they disagree. Value ids are kept.
Fusion concretize(const Fusion& fusion, std::span<const InputShape> inputs);

}  // namespace meshfuse
