// randn_like: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::randn_like {

OpInfo info();

}  // namespace meshfuse::ops::randn_like

namespace meshfuse::lang {

/// Normally distributed numbers of the size and element type of the operand; torch.randn_like
template <class Value>
Value randn_like(const Value& arg) {
  return arg.call("randn_like", arg)[0];
}

}  // namespace meshfuse::lang
