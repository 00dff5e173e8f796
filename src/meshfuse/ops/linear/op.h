// linear: its record, and its call from C++.
#pragma once

#include <optional>
#include <type_traits>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::linear {

OpInfo info();

}  // namespace meshfuse::ops::linear

namespace meshfuse::lang {

/// input [..., K] times weight [N, K] transposed, plus bias [N]; torch.nn.functional.linear.
template <class Value>
Value linear(const Value& input, const Value& weight,
             const std::type_identity_t<std::optional<Value>>& bias = std::nullopt) {
  return input.call("linear", input, weight, bias)[0];
}

}  // namespace meshfuse::lang
