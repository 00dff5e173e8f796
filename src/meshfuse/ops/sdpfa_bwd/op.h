// sdpfa_bwd: its record, and its call from C++.
#pragma once

#include <optional>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::sdpfa_bwd {

OpInfo info();

}  // namespace meshfuse::ops::sdpfa_bwd

namespace meshfuse::lang {

/// Gradients of query, key and value, from what sdpfa_fwd took (without bias and mask) and gave.
template <class Value>
std::vector<Value> sdpfa_bwd(const Value& gradOutput, const Value& query, const Value& key,
                             const Value& value, const Value& output, const Value& logsumexp,
                             double dropoutP, bool isCausal, const Value& philoxSeed,
                             const Value& philoxOffset,
                             std::optional<double> scale = std::nullopt) {
  const Arg scaleArg = scale ? Arg(Scalar(*scale)) : Arg();
  return query.call("sdpfa_bwd", gradOutput, query, key, value, output, logsumexp, dropoutP,
                    isCausal, philoxSeed, philoxOffset, scaleArg);
}

}  // namespace meshfuse::lang
