// gather: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::gather {

OpInfo info();

}  // namespace meshfuse::ops::gather

namespace meshfuse::lang {

/// Element by element of `index`, the one of `arg` at that position of dimension `dim`; torch.gather.
template <class Value>
Value gather(const Value& arg, const Value& index, int64_t dim) {
  return arg.call("gather", arg, index, dim)[0];
}

}  // namespace meshfuse::lang
