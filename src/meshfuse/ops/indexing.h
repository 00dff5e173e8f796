// What the indexing operations share: their checks and the dimensions that they only carry along.
#pragma once

#include "meshfuse/ops/structured_op.h"

namespace meshfuse {

/// Refuses an index that is no tensor of Int or Int32; UserError(Runtime).
void checkIndexDtype(std::string_view op, const Fusion& fusion, const Arg& index);

/// Refuses operands of another rank than the first; UserError(Runtime).
void checkSameRank(std::string_view op, const Fusion& fusion, std::span<const Arg> operands);

/// Maps dimension `dim` of operand `whole`, of which operand `part` addresses a leading part: one parallel factor where both
/// are known to be of one size, else opaque ones, since a shard of one is no shard of the other. A part that is known to be
/// larger is refused. Returns the part's factors.
DimFactors pairLeadingPart(DimMap& map, std::span<const TensorType> tensors, size_t whole,
                           size_t part, int64_t dim, std::string_view op);

/// How an operation that takes one element for each of its index carries dimension `dim`, which is not the indexed one.
using CarryDim = DimFactors (*)(const OpCall& call, DimMap& map, int64_t dim);

/// The dimension map of such an operation, called (arg, index, dim): the indexed dimension is whole in the operand.
DimMap takenDimMap(const OpCall& call, CarryDim carry);

/// The record of such an operation.
OpInfo takingOp(std::string_view name, std::string_view doc, const OpRules& rules);

/// Wraps the dim of such a call; refuses an index that is not of integers or of another rank.
void normalizeTaking(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);

/// A sample of such a call, along `dim`.
OpSample takingSample(std::vector<int64_t> sizes, std::vector<int64_t> indexSizes, int64_t dim);

/// A sample of Float data and an index with values below `bound`, in argument order.
OpSample indexSample(std::vector<int64_t> sizes, std::vector<int64_t> indexSizes, int64_t bound,
                     std::vector<Arg> args);

}  // namespace meshfuse
