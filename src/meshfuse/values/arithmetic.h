// Operators on values.
#pragma once

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

// Two numbers give the number C++ gives (Bool counts as Int, Int with Double is Double, anything with Complex is Complex). Int
// arithmetic wraps; a shift by a negative amount or by 64 and more gives what shifting bit by bit gives (0, or the sign). A tensor
// with a tensor or a number gives torch's result. A Pointer steps by an Int and subtracts another Pointer.
// Throw UserError(Type) with "Result is dynamic but not convertible to result type" for other operands (None and Vector included)
// and for distributed tensors, whose operations need their sharding; UserError(Value) for an Int division by zero or one whose
// result does not fit, and for what torch refuses.
PolymorphicValue operator+(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator-(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator*(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator/(const PolymorphicValue& a, const PolymorphicValue& b);
// Integers (Bool and Int) and tensors only.
PolymorphicValue operator%(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator&(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator|(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator^(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator<<(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator>>(const PolymorphicValue& a, const PolymorphicValue& b);
// Bool for numbers; both operands are always evaluated.
PolymorphicValue operator&&(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue operator||(const PolymorphicValue& a, const PolymorphicValue& b);

PolymorphicValue operator+(const PolymorphicValue& a);
PolymorphicValue operator-(const PolymorphicValue& a);
PolymorphicValue operator~(const PolymorphicValue& a);
/// Plain truth of a number, a pointer or a one-element tensor.
bool operator!(const PolymorphicValue& a);

// Int, Double and Pointer; others throw UserError(Type) with "Cannot compute ".
PolymorphicValue& operator++(PolymorphicValue& a);
PolymorphicValue& operator--(PolymorphicValue& a);
PolymorphicValue operator++(PolymorphicValue& a, int);
PolymorphicValue operator--(PolymorphicValue& a, int);

inline PolymorphicValue& operator+=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a + b;
}
inline PolymorphicValue& operator-=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a - b;
}
inline PolymorphicValue& operator*=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a * b;
}
inline PolymorphicValue& operator/=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a / b;
}
inline PolymorphicValue& operator%=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a % b;
}
inline PolymorphicValue& operator&=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a & b;
}
inline PolymorphicValue& operator|=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a | b;
}
inline PolymorphicValue& operator^=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a ^ b;
}
inline PolymorphicValue& operator<<=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a << b;
}
inline PolymorphicValue& operator>>=(PolymorphicValue& a, const PolymorphicValue& b) {
  return a = a >> b;
}

}  // namespace meshfuse
