#include "meshfuse/runtime/recycling_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <pthread.h>

#include "meshfuse/runtime/block_memory.h"
#include "meshfuse/runtime/byte_option.h"
#include "meshfuse/runtime/physical_memory.h"
#include "meshfuse/runtime/small_blocks.h"

namespace meshfuse {

namespace {

/// What is noted before a block, in use or kept. Kept ones are in two lists, from the one freed last to the one freed first: of all blocks,
/// and of those of their class.
struct Block {
  size_t bytes;
  size_t asked;
  struct Links {
    Block* newer = nullptr;
    Block* older = nullptr;
  };
  Links ofAll;
  Links ofClass;

  void* data() noexcept { return reinterpret_cast<char*>(this) + kBlockNoteBytes; }
  static Block* of(void* data) noexcept {
    return reinterpret_cast<Block*>(static_cast<char*>(data) - kBlockNoteBytes);
  }
};
static_assert(sizeof(Block) <= kBlockNoteBytes);

/// Null where there is no memory.
Block* newBlock(size_t bytes, size_t asked) noexcept {
  void* data = allocateBlock(bytes);
  return data != nullptr ? new (Block::of(data)) Block{bytes, asked, {}, {}} : nullptr;
}

using LinksOf = Block::Links Block::*;

/// A list of blocks through one pair of their links.
template <LinksOf links>
struct BlockList {
  Block* newest = nullptr;
  Block* oldest = nullptr;

  void add(Block* block) noexcept {
    block->*links = {nullptr, newest};
    (newest != nullptr ? (newest->*links).newer : oldest) = block;
    newest = block;
  }
  void remove(Block* block) noexcept {
    const auto [newer, older] = block->*links;
    (newer != nullptr ? (newer->*links).older : newest) = older;
    (older != nullptr ? (older->*links).newer : oldest) = newer;
  }
};

uint64_t firstCap() {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  return byteOption("MESHFUSE_POOL_BYTES", std::min(physicalMemory() / 4, kMost));
}

/// Blocks taken out of the pool. They go back to the system when no mutex is held: that takes its time.
class GivenBack {
 public:
  GivenBack() = default;
  GivenBack(const GivenBack&) = delete;
  GivenBack& operator=(const GivenBack&) = delete;
  ~GivenBack() {
    while (first_ != nullptr) {
      Block* block = std::exchange(first_, first_->ofAll.older);
      releaseBlock(block->data(), block->bytes);
    }
  }
  void add(Block* block) noexcept {
    block->ofAll.older = first_;
    first_ = block;
    bytes_ += block->bytes;
  }
  uint64_t bytes() const noexcept { return bytes_; }

 private:
  Block* first_ = nullptr;
  uint64_t bytes_ = 0;
};

class Pool {
 public:
  explicit Pool(uint64_t cap) : isOn_(cap != 0) { statistics_.capBytes = cap; }

  bool isOn() const noexcept { return isOn_.load(std::memory_order_relaxed); }

  /// Null where the system has no memory.
  Block* take(size_t asked) {
    const size_t bytes = blockBytes(asked);
    Block* block = takeKept(bytes, asked);
    if (block == nullptr) {
      block = newBlock(bytes, asked);
      if (block == nullptr && trim(0) != 0) {
        block = newBlock(bytes, asked);
      }
      if (block == nullptr) {
        return nullptr;
      }
      const std::lock_guard lock(mutex_);
      ++statistics_.misses;
      statistics_.reservedBytes += bytes;
      countInUse(asked);
    }
    return block;
  }

  void put(Block* block) noexcept {
    GivenBack back;
    const std::lock_guard lock(mutex_);
    statistics_.inUseBytes -= block->asked;
    if (block->bytes > statistics_.capBytes) {
      giveBack(block, back);  // instead of everything else first
      return;
    }
    all_.add(block);
    classes_[blockClass(block->bytes)].add(block);
    statistics_.keptBytes += block->bytes;
    ++statistics_.keptBlocks;
    giveBackDownTo(statistics_.capBytes, back);
  }

  uint64_t trim(uint64_t keepBytes) noexcept {
    GivenBack back;
    const std::lock_guard lock(mutex_);
    giveBackDownTo(keepBytes, back);
    return back.bytes();
  }

  void setCap(uint64_t bytes) noexcept {
    GivenBack back;
    const std::lock_guard lock(mutex_);
    statistics_.capBytes = bytes;
    isOn_ = bytes != 0;
    giveBackDownTo(bytes, back);
  }

  RecyclingPoolStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void resetPeak() {
    const std::lock_guard lock(mutex_);
    statistics_.peakInUseBytes = statistics_.inUseBytes;
  }

  void lockForFork() { mutex_.lock(); }
  void unlockAfterFork() { mutex_.unlock(); }

 private:
  Block* takeKept(size_t bytes, size_t asked) {
    const std::lock_guard lock(mutex_);
    Block* block = classes_[blockClass(bytes)].newest;
    if (block != nullptr) {
      removeKept(block);
      block->asked = asked;
      ++statistics_.hits;
      countInUse(asked);
    }
    return block;
  }

  void countInUse(size_t asked) noexcept {
    statistics_.inUseBytes += asked;
    statistics_.peakInUseBytes = std::max(statistics_.peakInUseBytes, statistics_.inUseBytes);
  }

  void removeKept(Block* block) noexcept {
    all_.remove(block);
    classes_[blockClass(block->bytes)].remove(block);
    statistics_.keptBytes -= block->bytes;
    --statistics_.keptBlocks;
  }

  void giveBackDownTo(uint64_t keepBytes, GivenBack& back) noexcept {
    while (statistics_.keptBytes > keepBytes) {
      Block* block = all_.oldest;
      removeKept(block);
      giveBack(block, back);
    }
  }

  void giveBack(Block* block, GivenBack& back) noexcept {
    statistics_.reservedBytes -= block->bytes;
    statistics_.givenBackBytes += block->bytes;
    ++statistics_.givenBackBlocks;
    back.add(block);
  }

  std::atomic<bool> isOn_;
  std::mutex mutex_;
  BlockList<&Block::ofAll> all_;
  std::array<BlockList<&Block::ofClass>, kBlockClasses> classes_;
  RecyclingPoolStatistics statistics_;
};

Pool& pool() {
  // Never destroyed: storages may outlive everything. A fork waits for the mutex, so that the child finds it free and the lists
  // whole; both processes own what is in them then.
  static Pool* const instance = [] {
    auto made = std::make_unique<Pool>(firstCap());
    ::pthread_atfork([] { pool().lockForFork(); }, [] { pool().unlockAfterFork(); },
                     [] { pool().unlockAfterFork(); });
    return made.release();
  }();
  return *instance;
}

void freeBlock(void* data) noexcept {
  c10::profiledCPUMemoryReporter().Delete(data);
  pool().put(Block::of(data));
}

class PoolAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    c10::Allocator* torchs = c10::GetCPUAllocator();
    if (bytes <= kLargestSmallBlock || bytes > kLargestBlock ||
        torchs != c10::GetDefaultCPUAllocator() || !pool().isOn()) {
      return torchs->allocate(bytes);
    }
    Block* block = pool().take(bytes);
    if (block == nullptr) {
      return torchs->allocate(bytes);  // which says what torch says without memory
    }
    void* data = block->data();
    c10::profiledCPUMemoryReporter().New(data, bytes);
    // The data is its own context, as torch's copies on write ask for.
    return {data, data, &freeBlock, c10::Device(c10::DeviceType::CPU)};
  }

  void copy_data(void* target, const void* source, size_t count) const override {
    default_copy_data(target, source, count);
  }
};

}  // namespace

c10::Allocator& recyclingPool() {
  static PoolAllocator* const allocator = new PoolAllocator();
  return *allocator;
}

RecyclingPoolStatistics recyclingPoolStatistics() { return pool().statistics(); }

uint64_t trimRecyclingPool(uint64_t keepBytes) { return pool().trim(keepBytes); }

void setRecyclingPoolCap(uint64_t bytes) { pool().setCap(bytes); }

void resetRecyclingPoolPeak() { pool().resetPeak(); }

}  // namespace meshfuse
