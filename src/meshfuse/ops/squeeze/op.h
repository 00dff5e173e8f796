// squeeze: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::squeeze {

OpInfo info();

}  // namespace meshfuse::ops::squeeze

namespace meshfuse::lang {

/// Removes `dims`, which are of size 1; with `squeezeExpanded`, expanded broadcasts as well. torch.squeeze.
template <class Value>
Value squeeze(const Value& arg, const Ints& dims, bool squeezeExpanded = false) {
  return arg.call("squeeze", arg, dims, squeezeExpanded)[0];
}

}  // namespace meshfuse::lang
