// cummax: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cummax {

OpInfo info();

}  // namespace meshfuse::ops::cummax

namespace meshfuse::lang {

/// Largest of the elements up to each one along `dim`, NaN from the first one on; the values of torch.cummax.
/// `init` is a number that the scan starts from.
template <class Value>
Value cummax(const Value& arg, int64_t dim, const Arg& init = {}) {
  return arg.call("cummax", arg, dim, init)[0];
}

}  // namespace meshfuse::lang
