#include "meshfuse/runtime/program_cache.h"

#include <algorithm>
#include <optional>

namespace meshfuse {

const BoundProgram& ProgramCache::get(std::span<const ArgView> args, const CallContext& context,
                                      std::span<const uint8_t> valueMatters, const Build& build) {
  const uint64_t hash = Signature::hashOf(args, context, valueMatters);
  std::unique_lock lock(mutex_);
  while (true) {
    if (const BoundProgram* program = find(hash, args, context, valueMatters)) {
      return *program;
    }
    if (std::find(building_.begin(), building_.end(), hash) == building_.end()) {
      break;
    }
    // The builder may need what this thread holds (the interpreter lock), so that goes first, and comes back after ours.
    lock.unlock();
    {
      const BlockingScope scope(context.blocking);
      std::unique_lock waiting(mutex_);
      built_.wait(waiting, [&] {
        return std::find(building_.begin(), building_.end(), hash) == building_.end();
      });
    }
    lock.lock();
  }
  building_.push_back(hash);
  lock.unlock();

  std::unique_ptr<BoundProgram> program;
  std::exception_ptr failure;
  try {
    program = build();
  } catch (...) {
    failure = std::current_exception();
  }

  lock.lock();
  building_.erase(std::find(building_.begin(), building_.end(), hash));
  const BoundProgram* result = program.get();
  if (result != nullptr) {
    if (table_.size() >= capacity_) {
      evictOldest();
    }
    table_.emplace(hash, Entry{std::move(program), ++clock_});
    last_.store(result, std::memory_order_release);
  }
  lock.unlock();
  built_.notify_all();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return *result;
}

bool ProgramCache::has(std::span<const ArgView> args, const CallContext& context,
                       std::span<const uint8_t> valueMatters) {
  const uint64_t hash = Signature::hashOf(args, context, valueMatters);
  const std::scoped_lock lock(mutex_);
  return find(hash, args, context, valueMatters) != nullptr;
}

const BoundProgram* ProgramCache::find(uint64_t hash, std::span<const ArgView> args,
                                       const CallContext& context,
                                       std::span<const uint8_t> valueMatters) {
  const auto [begin, end] = table_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    const BoundProgram* program = entry->second.program.get();
    if (program->signature().matches(args, context, valueMatters)) {
      entry->second.lastUse = ++clock_;
      last_.store(program, std::memory_order_release);
      return program;
    }
  }
  return nullptr;
}

void ProgramCache::evictOldest() {
  const auto oldest = std::min_element(
      table_.begin(), table_.end(),
      [](const auto& a, const auto& b) { return a.second.lastUse < b.second.lastUse; });
  const BoundProgram* program = oldest->second.program.get();
  if (last_.load(std::memory_order_relaxed) == program) {
    last_.store(nullptr);
  }
  retired_.push_back(std::move(oldest->second.program));
  table_.erase(oldest);
  hasRetired_.store(true);
}

void ProgramCache::freeRetired() {
  std::vector<std::unique_ptr<BoundProgram>> unused;
  const std::scoped_lock lock(mutex_);
  // A use that began after its programs left the table and `last_` cannot hold one of them.
  if (uses_.load() == 0) {
    unused.swap(retired_);
    hasRetired_.store(false);
  }
}

size_t ProgramCache::size() const {
  const std::scoped_lock lock(mutex_);
  return table_.size();
}

}  // namespace meshfuse
