// Which element type an operation computes in: the language's rules, and torch's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// The group an operand belongs to when types are promoted: a later group decides only what an
/// earlier one leaves open (an int tensor and a Python float).
enum class OperandGroup : uint8_t { DimTensor, ZeroDimTensor, Scalar };

struct PromotionOperand {
  PrimType type;
  OperandGroup group;
};

/// torch.promote_types(a, b); nullopt where torch refuses the pair (8-bit floats, Float4_e2m1fn_x2
/// and UInt64 with most others) and for types torch lacks.
std::optional<PrimType> torchPromoteTypes(PrimType a, PrimType b) noexcept;

/// torch.result_type over any number of operands, by torch's default settings: a floating scalar
/// counts as Float, a complex one as ComplexFloat, an integral one as Int. nullopt where torch
/// refuses, where its answer is a type the language lacks (complex32), and without operands.
std::optional<PrimType> torchResultType(std::span<const PromotionOperand> operands) noexcept;

/// Pairwise promotion of the fusion language. Throws UserError(Type) for Null, and for UInt64 with
/// Int or Int32, which no integer type holds.
PrimType promoteTypes(PrimType a, PrimType b);

/// The language's promotion over all operands, before an op's class is applied. Differs from torch:
/// an int64 tensor with a Python float is Double. Throws UserError(Type) as `promoteTypes` does,
/// and for a reduced float tensor with a complex scalar. At least one operand.
PrimType promoteOperands(std::span<const PromotionOperand> operands);

/// How an op's types follow from the promoted type.
enum class DtypeClass : uint8_t {
  UnaryFloat,     // A: Bool/Int -> Float, reduced floats -> Float
  UnaryReal,      // A: complex refused
  Promote,        // B: reduced floats -> Float
  PromoteReal,    // B: complex refused
  Interpolate,    // B: Bool refused
  Modulus,        // B: Bool and complex refused
  TrueDivide,     // C: as Promote, integral -> Float
  Angle,          // C: complex refused
  Compare,        // D: operands promoted as Promote, result Bool
  Order,          // D: complex refused
  Logical,        // E: operands cast to Bool, result Bool
  Bitwise,        // F: the promoted type; floating and complex refused
  Shift,          // F without Bool
  Keep,           // G: the promoted type, no upcast
  KeepReal,       // G: complex refused
  KeepNumber,     // G: Bool and complex refused
  KeepFloating,   // G: Bool and integral refused
  KeepFirst,      // G: the first operand's type, complex refused; the others are cast to it
  Magnitude,      // G: complex -> its real type
  RealPart,       // G: complex -> its real type
  ImaginaryPart,  // complex -> its real type; others refused
  MakeComplex,    // Float -> ComplexFloat, Double -> ComplexDouble; others refused
  FullFloat,      // Float or Double; others refused
  Predicate,      // H: the operand keeps its type, result Bool
  RealPredicate,  // H: complex refused
  Select,         // I: promotion without upcast
};

/// The type operands are cast to (`compute`) and the type of the result.
struct OpTypes {
  PrimType compute;
  PrimType result;
};

/// Applies an op's class to its promoted operand type; nullopt where the class refuses the type,
/// and for Null.
std::optional<OpTypes> applyDtypeClass(DtypeClass dtypeClass, PrimType promoted) noexcept;

/// What a class accepts, as the rule of an error: `Integer or boolean input is required`.
std::string_view ruleOf(DtypeClass dtypeClass) noexcept;

}  // namespace meshfuse
