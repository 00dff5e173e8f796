#include "meshfuse/runtime/kernel_library.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <c10/util/Exception.h>
#include <pthread.h>

#include "meshfuse/base/error.h"
#include "meshfuse/runtime/kernel_toolchain.h"

namespace meshfuse {

namespace {

using KernelPtr = std::shared_ptr<const CpuKernel>;

/// Kernels that nobody holds any more are kept up to this number of entries: a definition made again finds its own.
constexpr size_t kMostEntries = 4096;

struct Entry {
  /// Not ready while a thread is making it.
  std::shared_future<KernelPtr> kernel;
  uint64_t lastUse = 0;

  bool isReady() const {
    return kernel.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
};

/// What the threads of the process share. The mutex is never held while something compiles, loads or warns.
struct Registry {
  std::mutex mutex;
  std::vector<std::string> fallbackCompiler;
  std::shared_ptr<KernelToolchain> toolchain;
  std::unordered_map<ContentHash, Entry> entries;
  KernelCacheStatistics statistics;
  uint64_t uses = 0;
  bool isForked = false;
};

Registry& registry();

void lockRegistry() { registry().mutex.lock(); }
void unlockRegistry() { registry().mutex.unlock(); }
void unlockForkedRegistry() {
  registry().isForked = true;
  registry().mutex.unlock();
}

Registry& registry() {
  // Never destroyed: kernels may run while the process ends. A fork waits for the mutex, so that the child finds it free.
  static Registry* const instance = [] {
    auto made = std::make_unique<Registry>();
    ::pthread_atfork(lockRegistry, unlockRegistry, unlockForkedRegistry);
    return made.release();
  }();
  return *instance;
}

/// A text to make the kernel of.
struct Job {
  ContentHash name;
  const std::string* text;
  std::promise<KernelPtr> made;
};

/// What a call asks for: all its futures (none without a compiler), and the jobs among them that it has to do itself.
struct Claim {
  std::shared_ptr<KernelToolchain> toolchain;
  std::vector<std::shared_future<KernelPtr>> kernels;
  std::vector<Job> jobs;
  /// Kernels that go when the mutex is free again: that unloads libraries.
  std::vector<Entry> dropped;
};

/// In the child of a fork the threads that were making kernels are not there.
void forgetUnfinished(Registry& all) {
  if (std::exchange(all.isForked, false)) {
    std::erase_if(all.entries, [](const auto& item) { return !item.second.isReady(); });
  }
}

void dropUnused(Registry& all, std::vector<Entry>& dropped) {
  std::vector<std::pair<uint64_t, ContentHash>> unused;
  for (const auto& [name, entry] : all.entries) {
    bool isUnused = entry.isReady();
    try {
      isUnused = isUnused && entry.kernel.get().use_count() <= 1;
    } catch (...) {
      isUnused = true;  // it failed, and would fail again
    }
    if (isUnused) {
      unused.emplace_back(entry.lastUse, name);
    }
  }
  std::sort(unused.begin(), unused.end());
  unused.resize(std::min(unused.size(), kMostEntries / 4));
  for (const auto& [lastUse, name] : unused) {
    const auto entry = all.entries.find(name);
    dropped.push_back(std::move(entry->second));
    all.entries.erase(entry);
  }
}

std::shared_ptr<KernelToolchain> toolchainOf(Registry& all) {
  if (all.toolchain == nullptr) {
    all.toolchain =
        std::make_shared<KernelToolchain>(findCompiler(all.fallbackCompiler), diskCacheSettings());
  }
  return all.toolchain;
}

Claim claim(std::span<const std::string> texts) {
  Claim claimed;
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    claimed.toolchain = toolchainOf(all);
    if (!claimed.toolchain->hasCompiler()) {
      return claimed;
    }
  }
  std::vector<ContentHash> names;
  for (const std::string& text : texts) {
    names.push_back(contentHash(claimed.toolchain->keyOf(text)));
  }
  const std::lock_guard lock(all.mutex);
  forgetUnfinished(all);
  if (all.entries.size() >= kMostEntries) {
    dropUnused(all, claimed.dropped);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto [entry, isNew] = all.entries.try_emplace(names[i]);
    if (isNew) {
      claimed.jobs.push_back({.name = names[i], .text = &texts[i], .made = {}});
      entry->second.kernel = claimed.jobs.back().made.get_future().share();
    } else {
      ++all.statistics.foundInMemory;
    }
    entry->second.lastUse = ++all.uses;
    claimed.kernels.push_back(entry->second.kernel);
  }
  return claimed;
}

/// Another call shall try again.
void forget(const ContentHash& name) {
  const std::lock_guard lock(registry().mutex);
  registry().entries.erase(name);
}

void count(const MadeKernel& made) {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  const std::lock_guard lock(registry().mutex);
  KernelCacheStatistics& statistics = registry().statistics;
  statistics.compiled += made.kernel != nullptr && !made.isFromDisk ? 1 : 0;
  statistics.loadedFromDisk += made.isFromDisk ? 1 : 0;
  statistics.failed += made.kernel == nullptr ? 1 : 0;
  statistics.secondsCompiling += seconds(made.compileTime);
  statistics.secondsLoadingFromDisk += seconds(made.loadTime);
}

void run(KernelToolchain& toolchain, Job& job) {
  try {
    const MadeKernel made = toolchain.make(job.name, *job.text);
    count(made);
    if (made.kernel == nullptr) {
      forget(job.name);
    }
    job.made.set_value(made.kernel);
  } catch (const InternalError&) {
    // Kept: the same text would be refused again.
    count({});
    job.made.set_exception(std::current_exception());
  } catch (...) {
    count({});
    forget(job.name);
    job.made.set_exception(std::current_exception());
  }
}

void runAll(KernelToolchain& toolchain, std::vector<Job>& jobs) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      run(toolchain, jobs[i]);
    }
  };
  std::vector<std::jthread> helpers;
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  bool canStart = true;  // else the threads that there are, and this one, do the work
  while (canStart && helpers.size() + 1 < std::min(jobs.size(), processors)) {
    try {
      helpers.emplace_back(work);
    } catch (const std::system_error&) {
      canStart = false;
    }
  }
  work();
}

}  // namespace

std::vector<KernelPtr> loadCpuKernels(std::span<const std::string> texts) {
  Claim claimed = claim(texts);
  // Own jobs first: nobody waits for a thread that waits itself.
  runAll(*claimed.toolchain, claimed.jobs);
  if (const std::string warning = claimed.toolchain->takeWarning(); !warning.empty()) {
    TORCH_WARN(warning);
  }
  if (claimed.kernels.empty()) {
    return std::vector<KernelPtr>(texts.size());
  }
  for (const std::shared_future<KernelPtr>& kernel : claimed.kernels) {
    kernel.wait();
  }
  std::vector<KernelPtr> kernels;
  for (const std::shared_future<KernelPtr>& kernel : claimed.kernels) {
    kernels.push_back(kernel.get());
  }
  return kernels;
}

void setFallbackCompiler(std::vector<std::string> words) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.fallbackCompiler = std::move(words);
  // Looked at first, so that one that is not there either is not told of again.
  if (all.toolchain != nullptr && !all.toolchain->hasCompiler() &&
      findCompiler(all.fallbackCompiler)) {
    all.toolchain = nullptr;
  }
}

KernelCacheStatistics kernelCacheStatistics() {
  const std::lock_guard lock(registry().mutex);
  return registry().statistics;
}

}  // namespace meshfuse
