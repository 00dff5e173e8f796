// var: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::var {

OpInfo info();

}  // namespace meshfuse::ops::var

namespace meshfuse::lang {

/// Variance, divided by max(N - correction, 0), over `dims`; torch.var, but complex deviations are squared as they are.
template <class Value>
Value var(const Value& arg, const Ints& dims, int64_t correction = 1, bool keepdim = false) {
  return arg.call("var", arg, dims, correction, keepdim)[0];
}

}  // namespace meshfuse::lang
