// sum: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::sum {

OpInfo info();

}  // namespace meshfuse::ops::sum

namespace meshfuse::lang {

/// Sum over `dims`, of elements cast to `dtype` unless that is Null; torch.sum.
template <class Value>
Value sum(const Value& arg, const Ints& dims, bool keepdim = false,
          PrimType dtype = PrimType::Null) {
  return arg.call("sum", arg, dims, keepdim, dtype)[0];
}
/// The same over all dimensions.
template <class Value>
Value sum(const Value& arg, PrimType dtype = PrimType::Null) {
  return arg.call("sum", arg, Arg(), false, dtype)[0];
}

}  // namespace meshfuse::lang
