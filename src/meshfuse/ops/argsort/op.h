// argsort: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::argsort {

OpInfo info();

}  // namespace meshfuse::ops::argsort

namespace meshfuse::lang {

/// Indices that sort the elements along `dim`, NaN being the largest; torch.argsort.
template <class Value>
Value argsort(const Value& arg, int64_t dim, bool descending = false, bool stable = false) {
  return arg.call("argsort", arg, dim, descending, stable)[0];
}

}  // namespace meshfuse::lang
