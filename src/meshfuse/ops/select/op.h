// select: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::select {

OpInfo info();

}  // namespace meshfuse::ops::select

namespace meshfuse::lang {

/// Index `index` of dimension `dim`, which goes away; torch.select.
template <class Value>
Value select(const Value& arg, const Value& index, int64_t dim) {
  return arg.call("select", arg, index, dim)[0];
}

}  // namespace meshfuse::lang
