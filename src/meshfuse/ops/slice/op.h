// slice: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::slice {

OpInfo info();

}  // namespace meshfuse::ops::slice

namespace meshfuse::lang {

/// Elements [starts[i], ends[i]) of each dimension i; torch.Tensor.__getitem__ with slices.
template <class Value>
Value slice(const Value& arg, const Ints& starts, const Ints& ends) {
  return arg.call("slice", arg, starts, ends)[0];
}

}  // namespace meshfuse::lang
