// size: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::size {

OpInfo info();

}  // namespace meshfuse::ops::size

namespace meshfuse::lang {

/// The size of dimension `dim`, as an integer scalar; torch.Tensor.size.
template <class Value>
Value size(const Value& arg, int64_t dim) {
  return arg.call("size", arg, dim)[0];
}

}  // namespace meshfuse::lang
