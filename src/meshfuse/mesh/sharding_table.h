// Where interned shardings lie: append-only chunks that are read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace meshfuse {

struct Sharding;

/// Chunk k holds 64·2^k slots, so no chunk ever moves, and the chunk of an id follows from its
/// leading bit.
namespace sharding_table {

using Slot = std::atomic<const Sharding*>;
inline constexpr int kFirstChunkBits = 6;
inline constexpr size_t kChunkCount = 33 - kFirstChunkBits;
extern std::array<std::atomic<Slot*>, kChunkCount> chunks;

struct Position {
  size_t chunk;
  uint64_t slot;
};

constexpr Position positionOf(uint32_t id) noexcept {
  uint64_t shifted = uint64_t{id} + (uint64_t{1} << kFirstChunkBits);
  int top = 63 - std::countl_zero(shifted);
  return {static_cast<size_t>(top - kFirstChunkBits), shifted ^ (uint64_t{1} << top)};
}

/// The sharding of an id, null if there is none. Two loads, no lock; sees a complete sharding
/// whichever way the id came from the thread that interned it.
inline const Sharding* find(uint32_t id) noexcept {
  Position at = positionOf(id);
  const Slot* chunk = chunks[at.chunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk[at.slot].load(std::memory_order_acquire);
}

/// Throws InternalError: `id` is none, or was never given out.
[[noreturn]] void failUnknown(uint32_t id);

}  // namespace sharding_table

}  // namespace meshfuse
