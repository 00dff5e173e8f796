// embedding_fwd: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::embedding_fwd {

OpInfo info();

}  // namespace meshfuse::ops::embedding_fwd

namespace meshfuse::lang {

/// The rows of `weight` that `input` numbers, scaled to `maxNorm` where their norm of order `normType` is greater;
/// torch.nn.functional.embedding.
template <class Value>
Value embedding_fwd(const Value& input, const Value& weight, const Arg& paddingIdx = {},
                    const Arg& maxNorm = {}, const Arg& normType = {}) {
  return input.call("embedding_fwd", input, weight, paddingIdx, maxNorm, normType)[0];
}

}  // namespace meshfuse::lang
