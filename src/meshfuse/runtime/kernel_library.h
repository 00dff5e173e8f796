// The kernels of this process by their text: found in memory, loaded from disk, or compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/runtime/cpu_kernel.h"

namespace meshfuse {

/// The kernel of each text, a whole C++ translation unit that exports `extern "C"` `meshfuse_kernel` with default visibility.
/// Missing ones are compiled in parallel; of equal texts, in this process or others, one is compiled and the rest wait.
/// Null entries: there is no compiler that works, or no directory to build in, which one warning in the process tells.
/// Errors: a text that does not compile is an InternalError with the path of the text; a compiler that was killed or took too
/// long is a RuntimeError, and the next call tries again.
std::vector<std::shared_ptr<const CpuKernel>> loadCpuKernels(std::span<const std::string> texts);

/// The compiler to take where neither `$MESHFUSE_CXX` nor PATH has one: a program and its first arguments. It replaces an
/// earlier one, and counts from the next call on.
void setFallbackCompiler(std::vector<std::string> words);

/// What this process has done since its start.
struct KernelCacheStatistics {
  int64_t compiled = 0;
  int64_t loadedFromDisk = 0;
  /// Texts that were loaded already, or that another thread was compiling.
  int64_t foundInMemory = 0;
  /// Texts that gave no kernel: refused by the compiler, or nowhere to build.
  int64_t failed = 0;
  /// Over all compilers that ran, also at the same time.
  double secondsCompiling = 0;
  double secondsLoadingFromDisk = 0;
};
KernelCacheStatistics kernelCacheStatistics();

}  // namespace meshfuse
