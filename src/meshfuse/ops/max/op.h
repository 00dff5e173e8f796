// max: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::max {

OpInfo info();

}  // namespace meshfuse::ops::max

namespace meshfuse::lang {

/// Largest element over `dims`, NaN if there is one; torch.amax.
template <class Value>
Value max(const Value& arg, const Ints& dims, bool keepdim = false) {
  return arg.call("max", arg, dims, keepdim)[0];
}
/// The same over all dimensions.
template <class Value>
Value max(const Value& arg) {
  return arg.call("max", arg)[0];
}

}  // namespace meshfuse::lang
