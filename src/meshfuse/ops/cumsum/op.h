// cumsum: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cumsum {

OpInfo info();

}  // namespace meshfuse::ops::cumsum

namespace meshfuse::lang {

/// Sums of the elements up to each one along `dim`, in their own dtype; torch.cumsum.
template <class Value>
Value cumsum(const Value& arg, int64_t dim) {
  return arg.call("cumsum", arg, dim)[0];
}

}  // namespace meshfuse::lang
