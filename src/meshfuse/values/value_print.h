// Values as text.
#pragma once

#include <iosfwd>
#include <string>

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Text for people, six significant digits: `3`, `2.71828`, `1` for true, `Opaque<int>`, `StructHandle<A>{x=1, y=2}`,
/// `Tensor(float, [2, 3], cpu)`, `{1, 2}` for a vector, `std::monostate` for None. Never throws for a value's kind.
std::string toText(const PolymorphicValue& value);

/// As toText, but None throws UserError(Type) with "Can not print".
std::ostream& operator<<(std::ostream& out, const PolymorphicValue& value);

}  // namespace meshfuse
