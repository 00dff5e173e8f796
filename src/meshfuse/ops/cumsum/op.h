// cumsum: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cumsum {

OpInfo info();

}  // namespace meshfuse::ops::cumsum

namespace meshfuse::lang {

/// Sums of the elements up to each one along `dim`, in their own dtype; torch.cumsum.
/// `init` is a number that the scan starts from.
template <class Value>
Value cumsum(const Value& arg, int64_t dim, const Arg& init = {}) {
  return arg.call("cumsum", arg, dim, init)[0];
}

}  // namespace meshfuse::lang
