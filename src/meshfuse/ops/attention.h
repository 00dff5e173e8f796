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

/// Refuses query, key and value of rank other than 4 or 5, of different ranks or of a dtype without attention with
/// UserError(Runtime), complex options too, and options that are tensors with UserError(Type).
void checkAttention(std::string_view op, const Fusion& fusion, std::span<const Arg> queryKeyValue,
                    std::span<const Arg> options);

/// Puts the number in the place of a constant scalar as dropout's probability; refuses one outside [0, 1].
void normalizeDropout(std::string_view op, const Fusion& fusion, Arg& probability);

/// Whether a call with that probability may drop elements: it is given, and not known to be 0.
bool mayDrop(const Arg& probability);

/// The type of the logarithm of the sum of exponentials: Double for Double operands, else Float.
PrimType attentionSumType(PrimType operand) noexcept;

/// Gives the dimensions of the operands their factors; sizes that differ are refused. Where elements may be dropped, all of it
/// is whole on every rank: which ones depends on where they lie in the whole.
AttentionFactors mapAttention(DimMap& map, const OpCall& call,
                              std::span<const AttentionOperand> operands, bool drops);

/// The dimensions of a tensor that has those factors last, after the batch's.
std::vector<DimFactors> attentionDims(const AttentionFactors& factors,
                                      std::span<DimFactors AttentionFactors::* const> last);

}  // namespace meshfuse
