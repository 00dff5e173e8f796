// Comparing values: by value, as operations that give values, and for being the same.
#pragma once

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

namespace detail {
bool equal(const PolymorphicValue& a, const PolymorphicValue& b);
bool less(const PolymorphicValue& a, const PolymorphicValue& b, const char* op);
bool lessOrEqual(const PolymorphicValue& a, const PolymorphicValue& b, const char* op);
bool sameContents(const PolymorphicValue& a, const PolymorphicValue& b);
}  // namespace detail

// Numbers compare by their exact value whatever their kinds, pointers by address, vectors element by element, None equals None;
// structs and opaque values have == only. A one-element tensor compares as its element. Other operands (None with a value, a
// vector with a number, larger tensors, distributed tensors) throw UserError(Type) with "Result is dynamic but not convertible to
// result type".
inline bool operator==(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (a.is<int64_t>() && b.is<int64_t>()) {
    return a.as<int64_t>() == b.as<int64_t>();
  }
  if (a.is<double>() && b.is<double>()) {
    return a.as<double>() == b.as<double>();
  }
  return detail::equal(a, b);
}
inline bool operator<(const PolymorphicValue& a, const PolymorphicValue& b) {
  return detail::less(a, b, "<");
}
inline bool operator>(const PolymorphicValue& a, const PolymorphicValue& b) {
  return detail::less(b, a, ">");
}
inline bool operator<=(const PolymorphicValue& a, const PolymorphicValue& b) {
  return detail::lessOrEqual(a, b, "<=");
}
inline bool operator>=(const PolymorphicValue& a, const PolymorphicValue& b) {
  return detail::lessOrEqual(b, a, ">=");
}

// The same comparisons as values: a Bool, or a tensor of bools when an operand is a tensor.
PolymorphicValue eq(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue ne(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue lt(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue gt(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue le(const PolymorphicValue& a, const PolymorphicValue& b);
PolymorphicValue ge(const PolymorphicValue& a, const PolymorphicValue& b);

/// Stricter than ==: one kind, NaN the same as NaN, tensors and distributed tensors only if they are the same object (and sharding),
/// pointers with their element width; vectors and structs by their elements. Never throws for kinds that do not compare.
inline bool isSame(const PolymorphicValue& a, const PolymorphicValue& b) {
  return a.isIdentical(b) || detail::sameContents(a, b);
}

/// As ==, but NaN equals NaN (a complex number is NaN if either part is), and operands that == refuses are not the same.
bool isSameNanSensitive(const PolymorphicValue& a, const PolymorphicValue& b);

}  // namespace meshfuse
