// broadcast_in_dim: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::broadcast_in_dim {

OpInfo info();

}  // namespace meshfuse::ops::broadcast_in_dim

namespace meshfuse::lang {

/// Places dimension i of `arg` at output position broadcastDims[i] and stretches to `shape`; jax.lax.broadcast_in_dim.
template <class Value>
Value broadcast_in_dim(const Value& arg, const Ints& shape, const Ints& broadcastDims) {
  return arg.call("broadcast_in_dim", arg, shape, broadcastDims)[0];
}

}  // namespace meshfuse::lang
