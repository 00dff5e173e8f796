// Reading and checking the arguments of a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// The type of a tensor argument.
const TensorType& tensorArg(const Fusion& fusion, const Arg& arg);

inline bool isGiven(const Arg& arg) noexcept {
  return !std::holds_alternative<std::monostate>(arg);
}
inline const Ints& intsArg(const Arg& arg) { return std::get<Ints>(arg); }
inline bool boolArg(const Arg& arg) { return std::get<Scalar>(arg).toBool(); }
inline int64_t intArg(const Arg& arg) { return std::get<Scalar>(arg).toInt(); }

/// A Size or Sizes argument with constant scalars as numbers.
Arg withConstants(const Fusion& fusion, const Arg& sizes);
/// A Size argument: a constant, or the symbol of a scalar known at run time.
IntExpr sizeArg(const Fusion& fusion, const Arg& size);
/// The entries of a Sizes argument: constants, and symbols of scalars known at run time.
std::vector<IntExpr> sizesArg(const Fusion& fusion, const Arg& list);
/// Refuses constants below `lowest` in a Sizes argument: -1 where the size may be kept or inferred, else 0.
void checkSizes(std::string_view op, const Fusion& fusion, const Arg& sizes, int64_t lowest);
/// `[i0, 3]`: a Sizes argument in error texts.
std::string sizesText(const Fusion& fusion, const Arg& list);

/// A dim in [-rank, rank) as one in [0, rank); UserError(Runtime) "Tried to access out of boundary index" otherwise.
int64_t wrapDim(std::string_view op, int64_t dim, int64_t rank);

/// The same for ops that sort: a 0-d tensor counts as one dimension.
int64_t wrapSortDim(std::string_view op, int64_t dim, int64_t rank);

/// Wraps every dim and refuses repetitions; `duplicates` is the rule that a repetition breaks.
Ints wrapDims(std::string_view op, const Ints& dims, int64_t rank, std::string_view duplicates);

/// Refuses complex tensors, for ops that compare elements.
void checkOrdered(std::string_view op, const Fusion& fusion, const Arg& arg);

/// Refuses a number that a tensor's kind of element does not hold (a float for whole numbers, say) with UserError(Runtime), and
/// a tensor in its place with UserError(Type).
void checkNumberFits(std::string_view op, const Fusion& fusion, const Arg& tensor,
                     const Arg& number);

/// Refuses a tensor where a number is meant; UserError(Type).
void checkNumber(std::string_view op, const Fusion& fusion, std::string_view param, const Arg& arg);

/// As checkNumber, and refuses a complex number with UserError(Runtime).
void checkRealNumber(std::string_view op, const Fusion& fusion, std::string_view param,
                     const Arg& arg);

/// The dtype rule of ops with one output that keep the element type of their first operand.
std::vector<PrimType> dtypeOfFirst(const OpCall& call);

/// Refuses operands of different element types.
void checkSameDtype(std::string_view op, std::span<const TensorType> tensors);

/// `tv0 of type Float[i0, 4]`, for error texts.
std::string describe(const Fusion& fusion, const Arg& arg);

/// Element types of samples and their sizes, in a short form: one Float tensor a size list.
OpSample sampleOf(std::vector<std::vector<int64_t>> sizes, std::vector<Arg> args,
                  std::vector<size_t> tensorArgs);

}  // namespace meshfuse
