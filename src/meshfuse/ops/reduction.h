// What all reductions share: parameters, dims, types and dimension map.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The parameters (arg, dims, keepdim, dtype) with the language's three calls: all dims, one dim, a list of dims.
void setReductionParams(OpInfo& op);

/// Completes the dims at args[1]: None means all; negative dims wrap; a 0-d operand gets [0]. Throws UserError(Runtime):
/// no dims, repeated dims, a dim out of range.
void normalizeReductionDims(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);

/// The map of a reduction over the dims at args[1]: reduced dims get `role` and `reduce`; kept ones (keepdim) are broadcasts.
/// All `outputs` look alike.
DimMap reductionDimMap(const OpCall& call, bool keepdim, FactorRole role, ReduceKind reduce,
                       size_t outputs);

/// Samples over one dim and several, with and without keepdim, of sizes that divide by small meshes and sizes that do not.
std::vector<OpSample> reductionSamples();

}  // namespace meshfuse
