// rand_like: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::rand_like {

OpInfo info();

}  // namespace meshfuse::ops::rand_like

namespace meshfuse::lang {

/// Numbers from 0 up to but without 1, of the size and element type of the operand; torch.rand_like
template <class Value>
Value rand_like(const Value& arg) {
  return arg.call("rand_like", arg)[0];
}

}  // namespace meshfuse::lang
