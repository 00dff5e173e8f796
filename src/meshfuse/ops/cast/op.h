// cast: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cast {

OpInfo info();

}  // namespace meshfuse::ops::cast

namespace meshfuse::lang {

/// The same values as elements of `dtype`; torch.Tensor.to.
template <class Value>
Value cast(const Value& arg, PrimType dtype) {
  return arg.call("cast", arg, dtype)[0];
}

}  // namespace meshfuse::lang
