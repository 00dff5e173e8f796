// clamp: its record, and its call from C++.
#pragma once

#include <optional>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::clamp {

OpInfo info();

/// A bound as a number of `type`: cut off towards zero for whole numbers and bools, the nearest one for a bound beyond them. Throws
/// UserError(Value) for NaN as a bound of those.
Scalar boundIn(PrimType type, const Scalar& bound);

}  // namespace meshfuse::ops::clamp

namespace meshfuse::lang {

/// Elements of `arg` brought between `min` and `max` in their own dtype; either may be left out; torch.clamp.
template <class Value>
Value clamp(const Value& arg, std::optional<Scalar> min, std::optional<Scalar> max) {
  const auto bound = [](const std::optional<Scalar>& number) {
    return number ? Arg(*number) : Arg();
  };
  return arg.call("clamp", arg, bound(min), bound(max))[0];
}

}  // namespace meshfuse::lang
