// Which element type an operation computes in: the language's rules, and torch's.
#pragma once

#include <optional>
#include <span>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// The group an operand belongs to when types are promoted; groups later in the list give way to earlier ones.
enum class OperandGroup : uint8_t { DimTensor, ZeroDimTensor, Scalar };

struct PromotionOperand {
  PrimType type;
  OperandGroup group;
};

/// torch.promote_types(a, b); nullopt where torch refuses the pair (8-bit floats and UInt64 with most others).
std::optional<PrimType> torchPromoteTypes(PrimType a, PrimType b) noexcept;

/// torch.result_type over any number of operands; a Python float scalar counts as torch's default dtype (Float).
std::optional<PrimType> torchResultType(std::span<const PromotionOperand> operands) noexcept;

/// Pairwise promotion of the fusion language (reference/fusion_language 2.3); throws UserError(Type) for Null.
PrimType promoteTypes(PrimType a, PrimType b);

/// The language's promotion over all operands (2.2), before an op's class is applied. Differs from torch:
/// an int64 tensor with a Python float is Double.
PrimType promoteOperands(std::span<const PromotionOperand> operands);

/// How an op's result type follows from the promoted type (2.4). `Keep` is the type of the first tensor operand.
enum class DtypeClass : uint8_t {
  UnaryFloat,   // A: Bool/Int -> Float, reduced floats -> Float
  Promote,      // B: reduced floats -> Float
  TrueDivide,   // C: as Promote, integral -> Float
  Compare,      // D: operands promoted as Promote, result Bool
  Logical,      // E: operands cast to Bool, result Bool
  Bitwise,      // F: promoted type; floating refused
  Keep,         // G: the first operand's type, no upcast
  Predicate,    // H: operand keeps its type, result Bool
  Select,       // I: promotion without upcast
};

/// The type operands are cast to (`compute`) and the type of the result.
struct OpTypes {
  PrimType compute;
  PrimType result;
};

/// Applies an op's class to its promoted operand type; nullopt where the class refuses the type.
std::optional<OpTypes> applyDtypeClass(DtypeClass dtypeClass, PrimType promoted) noexcept;

}  // namespace meshfuse
