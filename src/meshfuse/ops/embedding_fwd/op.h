// embedding_fwd: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::embedding_fwd {

OpInfo info();

}  // namespace meshfuse::ops::embedding_fwd

namespace meshfuse::lang {

/// The rows of `weight` that `input` numbers; torch.nn.functional.embedding.
template <class Value>
Value embedding_fwd(const Value& input, const Value& weight) {
  return input.call("embedding_fwd", input, weight)[0];
}

}  // namespace meshfuse::lang
