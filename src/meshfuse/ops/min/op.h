// min: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::min {

OpInfo info();

}  // namespace meshfuse::ops::min

namespace meshfuse::lang {

/// Smallest element over `dims`, NaN if there is one; torch.amin.
template <class Value>
Value min(const Value& arg, const Ints& dims, bool keepdim = false) {
  return arg.call("min", arg, dims, keepdim)[0];
}
/// The same over all dimensions.
template <class Value>
Value min(const Value& arg) {
  return arg.call("min", arg)[0];
}

}  // namespace meshfuse::lang
