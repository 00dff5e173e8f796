// stride_order: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::stride_order {

OpInfo info();

}  // namespace meshfuse::ops::stride_order

namespace meshfuse::lang {

/// A copy whose dimension d is the strideOrder[d]-th in memory, counted from the innermost, without gaps.
template <class Value>
Value stride_order(const Value& arg, const Ints& strideOrder) {
  return arg.call("stride_order", arg, strideOrder)[0];
}

}  // namespace meshfuse::lang
