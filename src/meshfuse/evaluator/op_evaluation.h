// How one call of an op is computed with ATen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// The device of tensors that are made without operands: that of the first input that is not on the CPU, or the CPU.
c10::Device deviceOfFactories(std::span<const PolymorphicValue> inputs);

/// One call on one rank.
struct EvalCall {
  const Fusion* fusion = nullptr;
  const Expr* expr = nullptr;
  /// The call's arguments, aligned with expr->args; tensors, scalars and lists of tensors bound to values, the rest None.
  std::span<const PolymorphicValue> values;
  /// Sizes this rank must produce, per output (local sizes; global ones when undistributed).
  std::span<const std::vector<int64_t>> outputSizes;

  /// Where tensors without operands are made.
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  /// For a call that draws numbers without a seed of its own: one that all ranks of the mesh share.
  std::optional<uint64_t> seed = std::nullopt;

  at::Tensor tensor(size_t arg) const;
  /// A list of tensors.
  std::vector<at::Tensor> tensors(size_t arg) const;
  /// Whether an optional argument was given.
  bool has(size_t arg) const;
};

/// Evaluation of a structured op, `ops/<op>/eval.cpp`: tensors of the output dtypes and sizes.
using EvalFunction = std::vector<PolymorphicValue> (*)(const EvalCall& call);

/// The evaluation of an op; null if there is none (the completeness test fails then).
EvalFunction evalFunctionOf(const OpInfo& op);

/// Runs one call and checks that the result has the dtype and sizes that the IR says.
std::vector<PolymorphicValue> evaluateCall(const EvalCall& call);

}  // namespace meshfuse
