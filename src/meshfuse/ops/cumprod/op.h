// cumprod: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cumprod {

OpInfo info();

}  // namespace meshfuse::ops::cumprod

namespace meshfuse::lang {

/// Products of the elements up to each one along `dim`, in their own dtype; torch.cumprod.
/// `init` is a number that the scan starts from.
template <class Value>
Value cumprod(const Value& arg, int64_t dim, const Arg& init = {}) {
  return arg.call("cumprod", arg, dim, init)[0];
}

}  // namespace meshfuse::lang
