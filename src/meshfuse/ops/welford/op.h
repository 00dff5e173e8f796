// welford: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::welford {

OpInfo info();

}  // namespace meshfuse::ops::welford

namespace meshfuse::lang {

/// What `welford` gives: of each set of elements the average, the sum of squared deviations from it, and how many they are.
template <class Value>
struct Welford {
  Value average;
  Value squaredDeviations;
  Value count;
};

/// Average, sum of squared deviations and count over `dims`; torch.var_mean gives the first, and the second over the third.
template <class Value>
Welford<Value> welford(const Value& arg, const Ints& dims) {
  const auto outputs = arg.call("welford", arg, dims);
  return {outputs[0], outputs[1], outputs[2]};
}

}  // namespace meshfuse::lang
