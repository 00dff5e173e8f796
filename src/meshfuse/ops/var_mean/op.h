// var_mean: its record, and its call from C++.
#pragma once

#include <cstdint>
#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::var_mean {

OpInfo info();

}  // namespace meshfuse::ops::var_mean

namespace meshfuse::lang {

/// Variance, divided by max(N - correction, 0), and mean over `dims`; torch.var_mean.
template <class Value>
std::pair<Value, Value> var_mean(const Value& arg, const Ints& dims, int64_t correction = 1,
                                 bool keepdim = false) {
  const auto outputs = arg.call("var_mean", arg, dims, correction, keepdim);
  return {outputs[0], outputs[1]};
}

}  // namespace meshfuse::lang
