// Mixing hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace meshfuse {

/// Mix `value` into `seed` (the 64-bit finalizer of splitmix64, so that small integers spread).
constexpr uint64_t hashMix(uint64_t seed, uint64_t value) noexcept {
  uint64_t x = seed + 0x9e3779b97f4a7c15ULL + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Hash of a sequence of integers, its length included.
constexpr uint64_t hashInts(uint64_t seed, std::span<const int64_t> values) noexcept {
  seed = hashMix(seed, values.size());
  for (int64_t value : values) {
    seed = hashMix(seed, static_cast<uint64_t>(value));
  }
  return seed;
}

}  // namespace meshfuse
