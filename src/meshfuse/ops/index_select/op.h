// index_select: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::index_select {

OpInfo info();

}  // namespace meshfuse::ops::index_select

namespace meshfuse::lang {

/// The elements of `arg` at positions `index` of dimension `dim`; torch.index_select.
template <class Value>
Value index_select(const Value& arg, const Value& index, int64_t dim) {
  return arg.call("index_select", arg, index, dim)[0];
}

}  // namespace meshfuse::lang
