// A compiler and a disk cache: makes one kernel from its text.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "meshfuse/runtime/compiler_command.h"
#include "meshfuse/runtime/cpu_kernel.h"
#include "meshfuse/runtime/disk_cache.h"
#include "meshfuse/runtime/kernel_build.h"

namespace meshfuse {

/// A kernel and where it came from.
struct MadeKernel {
  std::shared_ptr<const CpuKernel> kernel;
  bool isFromDisk = false;
  std::chrono::nanoseconds compileTime{0};
  std::chrono::nanoseconds loadTime{0};
};

/// What kernels are made with. Safe to use from several threads at once.
class KernelToolchain {
 public:
  KernelToolchain(std::optional<CompilerCommand> compiler, DiskCacheSettings cache);

  /// All that decides what is built from a text: the key of the caches.
  std::string keyOf(const std::string& text) const;
  bool hasCompiler() const noexcept { return compiler_.has_value() && !isCompilerBroken_; }
  /// Loads or builds a kernel. Its kernel is null where there is no working compiler or no directory to build in; errors as
  /// those of loadCpuKernels.
  MadeKernel make(const ContentHash& name, const std::string& text);
  /// What the user has to know and has not been told; empty: nothing.
  std::string takeWarning();

 private:
  MadeKernel fromDisk(const ContentHash& name, const std::string& key);
  MadeKernel build(const ContentHash& name, const std::string& key, const std::string& text);
  [[noreturn]] void throwRefused(const ContentHash& name, const std::string& text,
                                 KernelBuild& build);
  /// Stores and loads what was built; null, with the reason in `build`, where it does not load.
  std::shared_ptr<const CpuKernel> load(const ContentHash& name, const std::string& key,
                                        KernelBuild& build);
  /// Whether the compiler builds the smallest kernel in this way.
  bool compilerWorks(size_t way);
  void addWarning(const std::string& text);

  std::optional<CompilerCommand> compiler_;
  DiskCache cache_;
  std::atomic<size_t> way_{
      0};  // the first of the compiler's ways that it takes, as far as is known
  std::atomic<bool> isCompilerBroken_{false};
  std::atomic<bool> hasToldProblem_{false};
  std::atomic<bool> hasUnwritableCache_{false};
  std::atomic<bool> hasNoRoom_{false};
  std::mutex warningsMutex_;
  std::string warnings_;
};

}  // namespace meshfuse
