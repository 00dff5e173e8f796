// expand: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::expand {

OpInfo info();

}  // namespace meshfuse::ops::expand

namespace meshfuse::lang {

/// `arg` stretched to `shape`, which may have more dimensions in front; -1 keeps a size; torch.Tensor.expand.
template <class Value>
Value expand(const Value& arg, const Ints& shape) {
  return arg.call("expand", arg, shape)[0];
}

}  // namespace meshfuse::lang
