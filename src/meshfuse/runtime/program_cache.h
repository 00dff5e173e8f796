// Bound programs by signature: the last hit, then a table; bounded, single-flight, safe to use while others are evicted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "meshfuse/runtime/bound_program.h"

namespace meshfuse {

/// Programs of one definition. A `Use` must be alive while a program from the cache is used: evicted programs are freed when
/// no use is left. No program is built or freed, and no tensor touched, while the cache's lock is held.
class ProgramCache {
 public:
  using Build = std::function<std::unique_ptr<BoundProgram>()>;

  explicit ProgramCache(size_t capacity) : capacity_(capacity) {}

  class Use {
   public:
    explicit Use(ProgramCache& cache) noexcept : cache_(cache) { cache_.uses_.fetch_add(1); }
    ~Use() {
      if (cache_.uses_.fetch_sub(1) == 1 && cache_.hasRetired_.load(std::memory_order_relaxed))
          [[unlikely]] {
        cache_.freeRetired();
      }
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ProgramCache& cache_;
  };

  /// The program that was found last, or null.
  const BoundProgram* last() const noexcept { return last_.load(); }

  /// The program for these arguments. One thread builds it; others that ask meanwhile wait for it, and build it themselves
  /// if that failed. Throws what `build` throws.
  const BoundProgram& get(std::span<const ArgView> args, const CallContext& context,
                          std::span<const uint8_t> valueMatters, const Build& build);

  /// Whether there is one already.
  bool has(std::span<const ArgView> args, const CallContext& context,
           std::span<const uint8_t> valueMatters);

  size_t size() const;

 private:
  struct Entry {
    std::unique_ptr<BoundProgram> program;
    uint64_t lastUse = 0;
  };
  using Table = std::unordered_multimap<uint64_t, Entry>;

  const BoundProgram* find(uint64_t hash, std::span<const ArgView> args, const CallContext& context,
                           std::span<const uint8_t> valueMatters);
  void evictOldest();
  void freeRetired();

  const size_t capacity_;
  std::atomic<const BoundProgram*> last_{nullptr};
  std::atomic<int64_t> uses_{0};
  std::atomic<bool> hasRetired_{false};

  mutable std::mutex mutex_;
  std::condition_variable built_;
  Table table_;
  std::vector<uint64_t> building_;  // hashes of the programs that a thread is building
  std::vector<std::unique_ptr<BoundProgram>> retired_;
  uint64_t clock_ = 0;
};

}  // namespace meshfuse
