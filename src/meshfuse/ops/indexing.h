// What the indexing operations share: their checks and the dimensions that they only carry along.
#pragma once

#include "meshfuse/ops/op_info.h"

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

/// A sample of Float data and an index with values below `bound`, in argument order.
OpSample indexSample(std::vector<int64_t> sizes, std::vector<int64_t> indexSizes, int64_t bound,
                     std::vector<Arg> args);

}  // namespace meshfuse
