// cummin: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cummin {

OpInfo info();

}  // namespace meshfuse::ops::cummin

namespace meshfuse::lang {

/// Smallest of the elements up to each one along `dim`, NaN from the first one on; the values of torch.cummin.
/// `init` is a number that the scan starts from.
template <class Value>
Value cummin(const Value& arg, int64_t dim, const Arg& init = {}) {
  return arg.call("cummin", arg, dim, init)[0];
}

}  // namespace meshfuse::lang
