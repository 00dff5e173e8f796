// The strides that a distributed tensor gives for the whole.
#pragma once

#include <cstdint>
#include <span>

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>

namespace meshfuse {

/// Strides of the global tensor whose dimensions lie in memory in the order of the local ones.
c10::DimVector globalStridesOf(std::span<const int64_t> globalSizes, c10::IntArrayRef localStrides);

}  // namespace meshfuse
