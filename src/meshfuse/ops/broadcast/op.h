// broadcast: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::broadcast {

OpInfo info();

}  // namespace meshfuse::ops::broadcast

namespace meshfuse::lang {

/// New dimensions of size 1 where `isBroadcastDim` is 1, the operand's dimensions in order where it is 0; torch.unsqueeze.
template <class Value>
Value broadcast(const Value& arg, const Ints& isBroadcastDim) {
  return arg.call("broadcast", arg, isBroadcastDim)[0];
}

}  // namespace meshfuse::lang
