// What the random operations share: their parameters, checks and rules.
#pragma once

#include <string_view>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The record of `name(first, second, shape, rng_seed, rng_offset, dtype)`.
OpInfo distributionOp(std::string_view name, std::string_view first, std::string_view second,
                      std::string_view doc);
/// The record of `name(arg)`, random numbers of the operand's sizes and element type.
OpInfo randomLikeOp(std::string_view name, std::string_view doc);

}  // namespace meshfuse
