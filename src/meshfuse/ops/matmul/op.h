// matmul: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::matmul {

OpInfo info();

}  // namespace meshfuse::ops::matmul

namespace meshfuse::lang {

/// Matrix product with broadcast batch dimensions; torch.matmul.
template <class Value>
Value matmul(const Value& a, const Value& b) {
  return a.call("matmul", a, b)[0];
}

}  // namespace meshfuse::lang
