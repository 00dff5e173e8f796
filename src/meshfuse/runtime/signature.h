// What a bound program is bound for: the properties of a call's arguments that its sizes, strides and checks depend on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/call_context.h"

namespace meshfuse {

/// Per tensor: dtype, device, sizes, strides, 16-byte alignment, sharding, global sizes and strides. Per number: its kind, and
/// its value where a shape depends on it. Per call: the mesh binding and this process's place in the mesh. Comparing and hashing allocate nothing.
class Signature {
 public:
  /// `valueMatters[i]` says that a shape depends on the number at position i; it has an entry for every argument.
  Signature(std::span<const ArgView> args, const CallContext& context,
            std::span<const uint8_t> valueMatters);

  bool matches(std::span<const ArgView> args, const CallContext& context,
               std::span<const uint8_t> valueMatters) const noexcept;
  uint64_t hash() const noexcept { return hash_; }

  /// The hash of the signature that these arguments would have.
  static uint64_t hashOf(std::span<const ArgView> args, const CallContext& context,
                         std::span<const uint8_t> valueMatters) noexcept;

 private:
  std::vector<uint64_t> words_;
  uint64_t hash_;
};

}  // namespace meshfuse
