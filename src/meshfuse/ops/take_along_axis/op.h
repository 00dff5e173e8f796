// take_along_axis: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::take_along_axis {

OpInfo info();

}  // namespace meshfuse::ops::take_along_axis

namespace meshfuse::lang {

/// As gather, with the other dimensions broadcast against each other; torch.take_along_dim.
template <class Value>
Value take_along_axis(const Value& arg, const Value& index, int64_t dim) {
  return arg.call("take_along_axis", arg, index, dim)[0];
}

}  // namespace meshfuse::lang
