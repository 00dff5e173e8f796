// Packed 4-bit floats in a definition: which calls take and give them, and where two of them lie in a byte.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The dimension along which two packed elements lie in a byte: the innermost in memory by `strideOrder`, the last where that is
/// empty. There is one.
int64_t packedDim(std::span<const int64_t> strideOrder, int64_t rank);

/// That of a value of packed elements: what `stride_order` states, that of the operand for copies and permutations, that of an
/// input, and the last for all other results.
int64_t packedDim(const Fusion& fusion, ValId val);

/// Refuses a call that would compute with packed elements or give such; those that move elements may, and the ones that make them.
void checkPackedResults(const OpCall& call, std::span<const PrimType> results);

/// Refuses packed elements that no torch tensor holds: without dimensions, or with an odd number of them in `dim`. `sizes` has -1
/// for what is not known; `described` is the tensor in the error's text, which `op` takes or gives.
void checkPackable(std::string_view op, const std::string& described,
                   std::span<const int64_t> sizes, int64_t dim);

}  // namespace meshfuse
