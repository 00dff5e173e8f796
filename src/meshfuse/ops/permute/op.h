// permute: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::permute {

OpInfo info();

}  // namespace meshfuse::ops::permute

namespace meshfuse::lang {

/// Output dimension i is operand dimension dims[i]; torch.permute.
template <class Value>
Value permute(const Value& arg, const Ints& dims) {
  return arg.call("permute", arg, dims)[0];
}

}  // namespace meshfuse::lang
