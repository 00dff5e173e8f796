// Names of mesh axes as the language counts them: from the innermost outwards.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshfuse {

/// DIDx is the last axis of a mesh, DIDy and DIDz the ones before it.
enum class ParallelType : uint8_t { DIDx, DIDy, DIDz };

constexpr std::string_view nameOf(ParallelType type) noexcept {
  constexpr std::string_view names[] = {"deviceIdx.x", "deviceIdx.y", "deviceIdx.z"};
  return names[static_cast<int>(type)];
}

}  // namespace meshfuse
