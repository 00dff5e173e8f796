// Types of an op's outputs from its dimension map and dtype rule.
#pragma once

#include <span>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The types of the tensor operands among `args`, in order.
std::vector<TensorType> tensorOperands(const Fusion& fusion, std::span<const Arg> args);

/// The dimension map of a call whose arguments are complete and normalized.
DimMap dimMapOf(const Fusion& fusion, const Expr& expr);

/// The types of the outputs of a call whose arguments are complete and normalized.
std::vector<TensorType> inferOutputs(const Fusion& fusion, const OpInfo& op,
                                     std::span<const Arg> args);

/// The sizes of a call's outputs from those of its tensor operands, in order; checks that they agree, as `concretize` does.
std::vector<std::vector<int64_t>> inferSizes(const Fusion& fusion, const Expr& expr,
                                             std::span<const std::vector<int64_t>> operandSizes);

}  // namespace meshfuse
