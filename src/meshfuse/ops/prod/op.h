// prod: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::prod {

OpInfo info();

}  // namespace meshfuse::ops::prod

namespace meshfuse::lang {

/// Product over `dims`, of elements cast to `dtype` unless that is Null; torch.prod.
template <class Value>
Value prod(const Value& arg, const Ints& dims, bool keepdim = false,
           PrimType dtype = PrimType::Null) {
  return arg.call("prod", arg, dims, keepdim, dtype)[0];
}
/// The same over all dimensions.
template <class Value>
Value prod(const Value& arg, PrimType dtype = PrimType::Null) {
  return arg.call("prod", arg, Arg(), false, dtype)[0];
}

}  // namespace meshfuse::lang
