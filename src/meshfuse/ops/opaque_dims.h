// What ops that need some dimensions whole share: scans, sorts, triangles.
#pragma once

#include <span>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The map of an op whose outputs have the sizes of its one tensor operand, and which needs `dims` whole.
DimMap opaqueDimMap(const OpCall& call, std::span<const int64_t> dims);

/// One sample: Float elements of `sizes`, and the arguments after the tensor.
OpSample unarySample(std::vector<int64_t> sizes, std::vector<Arg> others);

}  // namespace meshfuse
