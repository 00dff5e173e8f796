// topk: its record, and its call from C++.
#pragma once

#include <cstdint>
#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::topk {

OpInfo info();

}  // namespace meshfuse::ops::topk

namespace meshfuse::lang {

/// The `count` largest (or smallest) elements along `dim` and their indices, in order if `sorted`; torch.topk. The count is an
/// integer, or an integer scalar of the definition.
template <class Value, class Count>
std::pair<Value, Value> topk(const Value& arg, const Count& count, int64_t dim = -1,
                             bool largest = true, bool sorted = false) {
  const auto outputs = arg.call("topk", arg, count, dim, largest, sorted);
  return {outputs[0], outputs[1]};
}

}  // namespace meshfuse::lang
