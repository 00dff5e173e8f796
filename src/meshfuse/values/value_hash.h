// Hashing values, and using them as keys.
#pragma once

#include <cstdint>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Equal for values that == calls equal, whatever their kinds (false, 0, 0.0), and for all NaN; 0 for None. Throws UserError(Type)
/// for tensors, structs, vectors, pointers and opaque values.
uint64_t hashOf(const PolymorphicValue& value);

// For unordered containers. There is no std::hash: values of different kinds can be equal, so that using them as keys is a choice.
struct ValueHash {
  size_t operator()(const PolymorphicValue& value) const { return hashOf(value); }
};
struct ValueEqual {
  bool operator()(const PolymorphicValue& a, const PolymorphicValue& b) const {
    return isSameNanSensitive(a, b);
  }
};

}  // namespace meshfuse
