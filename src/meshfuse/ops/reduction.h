// What all reductions share: parameters, dims, types and dimension map.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// A record with the parameters (arg, dims, keepdim, dtype), the language's three calls (all dims, one dim, a list of dims),
/// and samples over one dim and several, of sizes that divide by small meshes and sizes that do not.
OpInfo reductionRecord(std::string_view name, std::string_view doc);

/// A record with the parameters (arg, dims, correction, keepdim) and every rule but normalize and dtypes: the deviations need
/// the mean of all elements, so reduced dims are whole on every rank.
OpInfo varianceRecord(std::string_view name, std::string_view doc);

/// Completes the dims at args[1]: None means all; negative dims wrap; a 0-d operand gets [0]. Throws UserError(Runtime):
/// no dims, repeated dims, a dim out of range.
void normalizeReductionDims(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);
/// The same for max and min, which also refuse a dtype and complex operands.
void normalizeExtremum(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);
/// The same for calls of a varianceRecord, which also refuse a negative correction.
void normalizeVariance(std::string_view op, const Fusion& fusion, std::vector<Arg>& args);

/// The dtype rule of sums and products: the dtype at args[3] if there is one; else whole numbers and bools give Int and other
/// types keep theirs.
std::vector<PrimType> accumulationDtypes(const OpCall& call);

/// The map of a reduction over the dims at args[1]: reduced dims get `role` and `reduce`; kept ones (keepdim) are broadcasts.
/// All outputs look alike.
DimMap reductionDimMap(const OpCall& call, bool keepdim, FactorRole role, ReduceKind reduce);

/// The map of a call of a reductionRecord whose partial results combine by `reduce`. Partial sums of bools and partial products
/// of complex numbers are combined by no backend: there the reduced dims are whole.
DimMap reductionDimMap(const OpCall& call, ReduceKind reduce);

}  // namespace meshfuse
