// reshape: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::reshape {

OpInfo info();

}  // namespace meshfuse::ops::reshape

namespace meshfuse::lang {

/// The same elements in row-major order under other sizes, one of which may be -1; torch.reshape.
template <class Value>
Value reshape(const Value& arg, const Ints& newShape) {
  return arg.call("reshape", arg, newShape)[0];
}

}  // namespace meshfuse::lang
