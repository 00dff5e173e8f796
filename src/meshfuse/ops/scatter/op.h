// scatter: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::scatter {

OpInfo info();

}  // namespace meshfuse::ops::scatter

namespace meshfuse::lang {

/// A copy of `arg` with `src`, a value or a number, at positions `index` of dimension `dim`; torch.scatter.
template <class Value, class Source>
Value scatter(const Value& arg, const Value& index, const Source& src, int64_t dim) {
  return arg.call("scatter", arg, index, src, dim)[0];
}

}  // namespace meshfuse::lang
