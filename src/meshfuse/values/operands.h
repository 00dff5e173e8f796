// What every operation on values does with its operands first: refuse, convert, or hand them to ATen.
#pragma once

#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Bool or Int.
bool isInteger(const PolymorphicValue& value) noexcept;

/// Whether at least one operand is a tensor and the others are tensors or numbers, so that ATen computes the result.
template <class... Values>
bool areTensorOperands(const Values&... values) noexcept;

/// A tensor as it is, a number as torch's wrapped number, which does not take part in choosing the dtype.
at::Tensor tensorOperand(const PolymorphicValue& value);

/// Refuses operands that an operation has no meaning for, naming the operation and both kinds.
[[noreturn]] void throwOperands(std::string_view op, const PolymorphicValue& a);
[[noreturn]] void throwOperands(std::string_view op, const PolymorphicValue& a,
                                const PolymorphicValue& b);
/// Carries what torch refused over into a user error.
[[noreturn]] void throwTorch(std::string_view op, const c10::Error& error);

/// Runs an ATen call, turning torch's refusal into a user error.
template <class F>
at::Tensor callTorch(std::string_view op, F&& call) {
  try {
    return std::forward<F>(call)();
  } catch (const c10::Error& error) {
    throwTorch(op, error);
  }
}

template <class... Values>
bool areTensorOperands(const Values&... values) noexcept {
  const auto fitting = [](const PolymorphicValue& v) {
    return v.kind() >= ValueKind::Bool && v.kind() <= ValueKind::Tensor;
  };
  return (values.template is<at::Tensor>() || ...) && (fitting(values) && ...);
}

}  // namespace meshfuse
