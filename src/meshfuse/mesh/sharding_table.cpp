// The process-wide table of shardings, keyed by content: interning, and the chunks that reads go
// to.
#include "meshfuse/mesh/sharding_table.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "meshfuse/base/error.h"
#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

namespace sharding_table {

constinit std::array<std::atomic<Slot*>, kChunkCount> chunks{};

void failUnknown(uint32_t id) {
  internalCheck(id != 0, "a plain tensor's sharding is not looked at");
  throwInternal("a sharding id was given out by the table");
}

}  // namespace sharding_table

namespace {

using sharding_table::Slot;

/// What interning needs besides the slots. Never destroyed: handles may outlive static destruction.
struct Interner {
  std::mutex mutex;
  std::unordered_multimap<uint64_t, uint32_t> idsByHash;
  std::atomic<uint32_t> count{0};  // ids 1 … count are in use
};

Interner& interner() {
  static Interner& instance = *new Interner();
  return instance;
}

/// The slot of a new id; its chunk is made when its first id comes. Called under the mutex.
Slot& slotFor(uint32_t id) {
  sharding_table::Position at = sharding_table::positionOf(id);
  std::atomic<Slot*>& chunk = sharding_table::chunks[at.chunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    size_t slots = size_t{1} << (at.chunk + sharding_table::kFirstChunkBits);
    chunk.store(new Slot[slots](), std::memory_order_release);
  }
  return chunk.load(std::memory_order_relaxed)[at.slot];
}

}  // namespace

ShardingId intern(const Sharding& sharding) {
  internalCheck(sharding.mesh.ndim() > 0 &&
                    static_cast<int64_t>(sharding.placements.size()) == sharding.mesh.ndim(),
                "an interned sharding has one placement for each mesh axis");
  uint64_t hash = sharding.hash();
  Interner& table = interner();
  std::lock_guard lock(table.mutex);
  auto [begin, end] = table.idsByHash.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (*sharding_table::find(entry->second) == sharding) {
      return ShardingId::fromValue(entry->second);
    }
  }
  uint32_t id = table.count.load(std::memory_order_relaxed) + 1;
  internalCheck(id != 0, "the table has room for another sharding");
  Slot& slot = slotFor(id);
  auto copy = std::make_unique<const Sharding>(sharding);
  table.idsByHash.emplace(hash, id);
  slot.store(copy.release(), std::memory_order_release);
  table.count.store(id, std::memory_order_relaxed);
  return ShardingId::fromValue(id);
}

size_t internedShardingCount() noexcept { return interner().count.load(std::memory_order_relaxed); }

}  // namespace meshfuse
