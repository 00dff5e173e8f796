// What the two attention operations share: their checks and their dimensions.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The factors of query [..., H, L, E], key [..., H, S, E] and value [..., H, S, V]. Batch dimensions and heads are parallel,
/// the rest is whole on every rank.
struct AttentionFactors {
  std::vector<DimFactors> batch;  // with the heads
  DimFactors targets, sources, features, valueFeatures;
};

/// One operand and what its last dimensions are, after those of the batch.
struct AttentionOperand {
  size_t tensor;
  std::vector<DimFactors AttentionFactors::*> last;
};

/// Refuses query, key and value of rank other than 4 or 5, of different ranks or of a dtype without attention, and options
/// that are tensors; UserError(Runtime).
void checkAttention(std::string_view op, const Fusion& fusion, std::span<const Arg> queryKeyValue,
                    std::span<const Arg> options);

/// The type of the logarithm of the sum of exponentials: Double for Double operands, else Float.
PrimType attentionSumType(PrimType operand) noexcept;

/// Gives the dimensions of the operands their factors; sizes that differ are refused.
AttentionFactors mapAttention(DimMap& map, std::span<const TensorType> tensors,
                              std::span<const AttentionOperand> operands, std::string_view op);

/// The dimensions of a tensor that has those factors last, after the batch's.
std::vector<DimFactors> attentionDims(const AttentionFactors& factors,
                                      std::span<DimFactors AttentionFactors::* const> last);

}  // namespace meshfuse
