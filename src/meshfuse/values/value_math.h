// Functions of values that are not operators.
#pragma once

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

// Numbers give numbers; where a tensor is among the operands the result is torch's tensor. Other operands throw
// UserError(Type), as in arithmetic.h.

/// The quotient rounded up, of two integers or two numbers; throws UserError(Value) for an integer division by zero.
PolymorphicValue ceilDiv(const PolymorphicValue& a, const PolymorphicValue& b);
/// Integers and bools keep their kind.
PolymorphicValue ceil(const PolymorphicValue& a);
/// A Bool for numbers.
PolymorphicValue signbit(const PolymorphicValue& a);
/// A Double for complex numbers; bools are themselves.
PolymorphicValue abs(const PolymorphicValue& a);
/// Tensors only.
PolymorphicValue erf(const PolymorphicValue& a);
/// Remainder with the dividend's sign; a Double for numbers.
PolymorphicValue fmod(const PolymorphicValue& a, const PolymorphicValue& b);
/// Two integers give an Int that wraps; a negative exponent of an integer rounds towards zero, and of zero throws UserError(Value).
PolymorphicValue pow(const PolymorphicValue& base, const PolymorphicValue& exponent);
/// The larger (smaller) operand; NaN if either is NaN.
PolymorphicValue max(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue min(const PolymorphicValue& a, const PolymorphicValue& b);
/// The larger (smaller) operand; the other one if one is NaN.
PolymorphicValue fmax(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue fmin(const PolymorphicValue& a, const PolymorphicValue& b);
/// `a` where the condition holds, `b` elsewhere; a tensor if any of the three is one.
PolymorphicValue where(const PolymorphicValue& condition, const PolymorphicValue& a,
                       const PolymorphicValue& b);

}  // namespace meshfuse
