// The pointwise operations as data: what pointwise.def says, without the columns that need ATen.
#pragma once

#include <span>
#include <string_view>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/types/promotion.h"

namespace meshfuse {

/// Which operand values make a meaningful sample of a pointwise op.
enum class SampleKind : uint8_t {
  Real,       // numbers of either sign
  Positive,   // the operation is defined for positive numbers
  AboveOne,   // … for numbers above one
  Unit,       // … between -1 and 1
  NonZero,    // the last operand is away from zero
  Whole,      // small whole numbers, so that comparisons meet equal operands
  Integer,    // whole numbers only; the second operand counts bits
  Bool,       // truth values
  Complex,    // complex numbers
  Condition,  // the first operand is Bool
};

/// One row of pointwise.def.
struct PointwiseRow {
  std::string_view name;
  int32_t arity;
  DtypeClass types;
  Algebra algebra;
  SampleKind sample;
  /// C++ text of the result over x0, x1, … of type T.
  std::string_view device;
  std::string_view doc;
};

std::span<const PointwiseRow> pointwiseRows() noexcept;

/// Whether the row, computed in `compute`, divides whole numbers by its last operand. A zero among them has no result, and the call
/// is refused.
bool dividesWholeNumbers(const PointwiseRow& row, PrimType compute) noexcept;

/// The complete records of the rows, in order.
std::vector<OpInfo> makePointwiseOps();

/// The type a pointwise call computes in and the type of its result; throws UserError(Runtime) naming the op for types it
/// refuses.
OpTypes pointwiseTypes(const OpCall& call);

/// The dimension map of an elementwise op over `tensors`, with torch's right-aligned broadcasting of declared broadcasts.
DimMap pointwiseDimMap(const OpCall& call);

/// Classes whose results a number that wrapped into Int32 would make wrong; sums, products and bits wrap as the elements do.
bool needsWholeNumber(DtypeClass types) noexcept;

}  // namespace meshfuse
