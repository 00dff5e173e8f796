// Names for content: a hash wide enough that equal names mean equal content.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meshfuse {

/// 128 bits of hash; the same in every process and on every machine of one byte order.
struct ContentHash {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const ContentHash&) const noexcept = default;
  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
};

ContentHash contentHash(std::string_view bytes) noexcept;

}  // namespace meshfuse

template <>
struct std::hash<meshfuse::ContentHash> {
  size_t operator()(const meshfuse::ContentHash& value) const noexcept { return value.low; }
};
