#include "meshfuse/types/promotion.h"

#include <algorithm>
#include <array>
#include <string>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

using enum PrimType;

bool isComplex(PrimType type) noexcept { return categoryOf(type) == TypeCategory::Complex; }
bool isFloating(PrimType type) noexcept { return categoryOf(type) == TypeCategory::Floating; }
bool isIntegral(PrimType type) noexcept { return categoryOf(type) == TypeCategory::Integral; }

// ---- torch ----

/// Undefined is `Null`: the fold's neutral element and torch's answer for "no operand in this
/// group". A refusal is nullopt and spreads.
using TorchType = std::optional<PrimType>;

bool torchKnows(PrimType type) noexcept { return !torchNameOf(type).empty(); }

bool isFloat8(PrimType type) noexcept {
  return isFloating(type) && bitsOf(type) == 8 && type != Float4_e2m1fn_x2;
}

/// Where a type stands in torch's lattice: within a category a higher rank wins, and so does a
/// higher category.
int torchRank(PrimType type) noexcept {
  constexpr PrimType order[] = {Bool,  Int32,  Int,          Half,         BFloat16,
                                Float, Double, ComplexFloat, ComplexDouble};
  return static_cast<int>(std::find(std::begin(order), std::end(order), type) - std::begin(order));
}

TorchType torchPromoteDefined(PrimType a, PrimType b) noexcept {
  if (!torchKnows(a) || !torchKnows(b)) {
    return std::nullopt;
  }
  if (a == b) {
    return a;
  }
  if (isFloat8(a) || isFloat8(b)) {
    return std::nullopt;
  }
  if (a == UInt64 || b == UInt64) {
    PrimType other = a == UInt64 ? b : a;
    return isFloating(other) ? TorchType(other) : std::nullopt;
  }
  if (a == Float4_e2m1fn_x2 || b == Float4_e2m1fn_x2) {
    return std::nullopt;
  }
  auto [low, high] = torchRank(a) < torchRank(b) ? std::pair(a, b) : std::pair(b, a);
  if (low == Half && high == BFloat16) {
    return Float;
  }
  return low == Double && high == ComplexFloat ? ComplexDouble : high;
}

TorchType torchPromoteSkippingNull(TorchType a, TorchType b) noexcept {
  if (!a || !b) {
    return std::nullopt;
  }
  if (*a == Null) {
    return b;
  }
  return *b == Null ? a : torchPromoteDefined(*a, *b);
}

/// The complex type with `type` as its parts; torch has complex32 for Half, which the language
/// lacks.
TorchType torchComplexOf(PrimType type) noexcept {
  switch (type) {
    case BFloat16:
    case Float:
      return ComplexFloat;
    case Double:
      return ComplexDouble;
    default:
      return std::nullopt;
  }
}

TorchType torchCombine(TorchType higher, TorchType lower) noexcept {
  if (!higher || !lower) {
    return std::nullopt;
  }
  if (*higher == Null || *lower == Null || *higher == Bool) {
    return torchPromoteSkippingNull(higher, lower);
  }
  if (isComplex(*higher)) {
    return higher;
  }
  if (isFloating(*higher)) {
    return isComplex(*lower) ? torchComplexOf(*higher) : higher;
  }
  if (isComplex(*lower)) {
    return lower;  // UInt64 too, which torch promotes with no complex type otherwise
  }
  return isFloating(*lower) ? torchPromoteDefined(*higher, *lower) : higher;
}

PrimType torchScalarType(PrimType type) noexcept {
  switch (categoryOf(type)) {
    case TypeCategory::Integral:
      return Int;
    case TypeCategory::Floating:
      return Float;
    case TypeCategory::Complex:
      return ComplexFloat;
    default:
      return type;
  }
}

// ---- the language ----

[[noreturn]] void refusePair(PrimType a, PrimType b, std::string_view rule,
                             std::string_view wayOut) {
  std::string found = std::string("got ").append(nameOf(a)).append(" and ").append(nameOf(b));
  throwUser(ErrorKind::Type, {"type promotion", rule, found, wayOut});
}

PrimType promoteComplex(PrimType a, PrimType b) noexcept {
  bool wide = realTypeOf(a) == Double || realTypeOf(b) == Double;
  return wide ? ComplexDouble : ComplexFloat;
}

PrimType promoteIntegral(PrimType a, PrimType b) {
  if (a == Index || b == Index) {
    return Index;
  }
  if (a == UInt64 || b == UInt64) {
    refusePair(a, b, "UInt64 combines with no signed integer type", "cast one of the two");
  }
  return Int;
}

/// combine(hi, lo) of two groups that both have operands.
PrimType combineGroups(PrimType high, PrimType low) {
  if (isComplex(high)) {
    return high;
  }
  if (isComplex(low) && isFloating(high)) {
    if (isReducedFloat(high)) {
      refusePair(high, low, "a complex number needs a Float or Double tensor beside it",
                 "cast the tensor to Float");
    }
    return high == Double ? ComplexDouble : ComplexFloat;
  }
  if (isComplex(low)) {
    return promoteTypes(high, low);
  }
  if (isFloating(high)) {
    return high;
  }
  return high == Bool || isFloating(low) ? promoteTypes(high, low) : high;
}

PrimType upcast(PrimType type) noexcept { return isReducedFloat(type) ? Float : type; }

PrimType toFloating(PrimType type) noexcept {
  return isIntegralOrBool(categoryOf(type)) ? Float : upcast(type);
}

}  // namespace

std::optional<PrimType> torchPromoteTypes(PrimType a, PrimType b) noexcept {
  return torchPromoteDefined(a, b);
}

std::optional<PrimType> torchResultType(std::span<const PromotionOperand> operands) noexcept {
  std::array<TorchType, 3> groups = {Null, Null, Null};
  for (const PromotionOperand& operand : operands) {
    if (!torchKnows(operand.type)) {
      return std::nullopt;
    }
    bool scalar = operand.group == OperandGroup::Scalar;
    TorchType& group = groups[static_cast<size_t>(operand.group)];
    group = torchPromoteSkippingNull(group, scalar ? torchScalarType(operand.type) : operand.type);
  }
  TorchType result = torchCombine(groups[0], torchCombine(groups[1], groups[2]));
  return result == Null ? std::nullopt : result;
}

PrimType promoteTypes(PrimType a, PrimType b) {
  if (a == Null || b == Null) {
    refusePair(a, b, "every operand needs an element type", "name the type of each operand");
  }
  if (a == b || b == Bool) {
    return a;
  }
  if (a == Bool) {
    return b;
  }
  if (isComplex(a) || isComplex(b)) {
    return promoteComplex(a, b);
  }
  if (isFloating(a) && isFloating(b)) {
    return a == Double || b == Double ? Double : Float;
  }
  if (isIntegral(a) && isIntegral(b)) {
    return promoteIntegral(a, b);
  }
  return isFloating(a) ? a : b;
}

PrimType promoteOperands(std::span<const PromotionOperand> operands) {
  internalCheck(!operands.empty(), "types are promoted over at least one operand");
  PrimType first = operands.front().type;
  auto isFirst = [&](const PromotionOperand& operand) { return operand.type == first; };
  if (first != Null && std::all_of(operands.begin(), operands.end(), isFirst)) {
    return first;
  }
  std::array<std::optional<PrimType>, 3> groups;
  for (const PromotionOperand& operand : operands) {
    bool scalar = operand.group == OperandGroup::Scalar;
    PrimType type = scalar ? upcast(operand.type) : operand.type;
    std::optional<PrimType>& group = groups[static_cast<size_t>(operand.group)];
    group = promoteTypes(group.value_or(type), type);
  }
  std::optional<PrimType> result;
  for (size_t i = groups.size(); i-- > 0;) {
    if (groups[i]) {
      result = result ? combineGroups(*groups[i], *result) : *groups[i];
    }
  }
  return *result;
}

namespace {

/// The types that a class has no meaning for, or torch no functions on CPUs (UInt64).
struct Refusals {
  bool complex = false;
  bool unsigned64 = false;
  bool boolean = false;

  bool holdFor(PrimType type) const noexcept {
    return (complex && isComplex(type)) || (unsigned64 && type == UInt64) ||
           (boolean && type == Bool);
  }
};

Refusals refusalsOf(DtypeClass dtypeClass) noexcept {
  switch (dtypeClass) {
    case DtypeClass::UnaryReal:
    case DtypeClass::DivideReal:
      return {.complex = true};
    case DtypeClass::Promote:
    case DtypeClass::Shift:
    case DtypeClass::Magnitude:
      return {.unsigned64 = true};
    case DtypeClass::Interpolate:
      return {.unsigned64 = true, .boolean = true};
    case DtypeClass::PromoteReal:
    case DtypeClass::Order:
    case DtypeClass::KeepReal:
    case DtypeClass::KeepFirst:
    case DtypeClass::PredicateReal:
      return {.complex = true, .unsigned64 = true};
    case DtypeClass::PromoteNumber:
    case DtypeClass::KeepNumber:
      return {.complex = true, .unsigned64 = true, .boolean = true};
    default:
      return {};
  }
}

}  // namespace

std::optional<OpTypes> applyDtypeClass(DtypeClass dtypeClass, PrimType promoted) noexcept {
  if (promoted == Null || refusalsOf(dtypeClass).holdFor(promoted)) {
    return std::nullopt;
  }
  const std::optional<OpTypes> unchanged = OpTypes{promoted, promoted};
  switch (dtypeClass) {
    case DtypeClass::UnaryFloat:
    case DtypeClass::UnaryReal:
    case DtypeClass::TrueDivide:
    case DtypeClass::DivideReal:
      return OpTypes{toFloating(promoted), toFloating(promoted)};
    case DtypeClass::Promote:
    case DtypeClass::PromoteReal:
    case DtypeClass::PromoteNumber:
    case DtypeClass::Interpolate:
      return OpTypes{upcast(promoted), upcast(promoted)};
    case DtypeClass::Compare:
    case DtypeClass::Order:
      return OpTypes{upcast(promoted), Bool};
    case DtypeClass::Logical:
      return OpTypes{Bool, Bool};
    case DtypeClass::Bitwise:
      return isIntegralOrBool(categoryOf(promoted)) ? unchanged : std::nullopt;
    case DtypeClass::Shift:
      return categoryOf(promoted) == TypeCategory::Integral ? unchanged : std::nullopt;
    case DtypeClass::KeepFloating:
      return isIntegralOrBool(categoryOf(promoted)) ? std::nullopt : unchanged;
    case DtypeClass::FullFloat:
      return promoted == Float || promoted == Double ? unchanged : std::nullopt;
    case DtypeClass::Magnitude:
    case DtypeClass::RealPart:
      return OpTypes{promoted, realTypeOf(promoted)};
    case DtypeClass::ImaginaryPart:
      return isComplex(promoted) ? std::optional(OpTypes{promoted, realTypeOf(promoted)})
                                 : std::nullopt;
    case DtypeClass::MakeComplex:
      return promoted == Float    ? std::optional(OpTypes{Float, ComplexFloat})
             : promoted == Double ? std::optional(OpTypes{Double, ComplexDouble})
                                  : std::nullopt;
    case DtypeClass::Predicate:
    case DtypeClass::PredicateReal:
      return OpTypes{promoted, Bool};
    case DtypeClass::Keep:
    case DtypeClass::KeepReal:
    case DtypeClass::KeepNumber:
    case DtypeClass::KeepFirst:
    case DtypeClass::Select:
      return unchanged;
  }
  return std::nullopt;
}

std::string_view ruleOf(DtypeClass dtypeClass, PrimType refused) noexcept {
  if (refused == UInt64 && refusalsOf(dtypeClass).unsigned64) {
    return "Input other than UInt64 is required";
  }
  switch (dtypeClass) {
    case DtypeClass::Bitwise:
      return "Integer or boolean input is required";
    case DtypeClass::Shift:
      return "Integer input is required";
    case DtypeClass::UnaryReal:
    case DtypeClass::PromoteReal:
    case DtypeClass::DivideReal:
    case DtypeClass::Order:
    case DtypeClass::KeepReal:
    case DtypeClass::KeepFirst:
    case DtypeClass::PredicateReal:
      return "Real input is required";
    case DtypeClass::PromoteNumber:
    case DtypeClass::KeepNumber:
      return "Integer or floating point input is required";
    case DtypeClass::Interpolate:
      return "Input other than Bool is required";
    case DtypeClass::KeepFloating:
      return "Floating point or complex input is required";
    case DtypeClass::ImaginaryPart:
      return "Complex input is required";
    case DtypeClass::MakeComplex:
    case DtypeClass::FullFloat:
      return "Float or Double input is required";
    default:
      return "the operand types have a common type";
  }
}

}  // namespace meshfuse
