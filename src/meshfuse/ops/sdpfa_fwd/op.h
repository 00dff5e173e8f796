// sdpfa_fwd: its record, and its call from C++.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::sdpfa_fwd {

OpInfo info();

}  // namespace meshfuse::ops::sdpfa_fwd

namespace meshfuse::lang {

/// Attention of query [N, H, L, E] to key [N, H, S, E] and value [N, H, S, V]: output, the logarithms of the rows' sums of
/// exponentials, and the seed and offset of dropout. torch.nn.functional.scaled_dot_product_attention.
template <class Value>
std::vector<Value> sdpfa_fwd(const Value& query, const Value& key, const Value& value,
                             const std::type_identity_t<std::optional<Value>>& bias = std::nullopt,
                             const std::type_identity_t<std::optional<Value>>& mask = std::nullopt,
                             double dropoutP = 0, bool isCausal = false,
                             std::optional<double> scale = std::nullopt) {
  const Arg scaleArg = scale ? Arg(Scalar(*scale)) : Arg();
  return query.call("sdpfa_fwd", query, key, value, bias, mask, dropoutP, isCausal, scaleArg);
}

}  // namespace meshfuse::lang
