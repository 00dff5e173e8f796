// Hashing values, and using them as keys.
#pragma once

#include <cstdint>

#include "meshfuse/base/hash.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

namespace detail {
inline uint64_t hashInteger(int64_t value) noexcept {
  return hashMix(1, static_cast<uint64_t>(value));
}
uint64_t hashContents(const PolymorphicValue& value);
}  // namespace detail

/// Equal for values that == calls equal, whatever their kinds (false, 0, 0.0), and for all NaN; 0 for None. Throws UserError(Type)
/// for tensors, structs, vectors, pointers and opaque values.
inline uint64_t hashOf(const PolymorphicValue& value) {
  return value.is<int64_t>() ? detail::hashInteger(value.as<int64_t>())
                             : detail::hashContents(value);
}

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
