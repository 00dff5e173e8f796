#include "meshfuse/runtime/kernel_toolchain.h"

#include <string_view>
#include <utility>
#include <vector>

#include "meshfuse/base/error.h"
#include "meshfuse/runtime/file_bytes.h"

namespace meshfuse {

namespace {

using Clock = std::chrono::steady_clock;

/// A warning that compiled kernels can't be had.
std::string evaluatorInstead(std::string_view reason, std::string_view wayOut) {
  std::string text(reason);
  text.append(
      "; operations run one after another on the evaluator instead of as compiled kernels. ");
  text.append(wayOut);
  return text;
}

}  // namespace

KernelToolchain::KernelToolchain(std::optional<CompilerCommand> compiler, DiskCacheSettings cache)
    : compiler_(std::move(compiler)), cache_(std::move(cache)) {
  if (!compiler_) {
    addWarning(
        evaluatorInstead("no compiler for CPU kernels was found (MESHFUSE_CXX, c++, g++, clang++)",
                         "Install one of them, or name one in MESHFUSE_CXX"));
  }
}

std::string KernelToolchain::keyOf(const std::string& text) const {
  return (compiler_ ? compiler_->identity : "") + "\n" + text;
}

void KernelToolchain::addWarning(const std::string& text) {
  const std::lock_guard lock(warningsMutex_);
  warnings_ += (warnings_.empty() ? "meshfuse: " : "\nmeshfuse: ") + text;
}

std::string KernelToolchain::takeWarning() {
  const std::lock_guard lock(warningsMutex_);
  return std::exchange(warnings_, "");
}

MadeKernel KernelToolchain::fromDisk(const ContentHash& name, const std::string& key) {
  const Clock::time_point start = Clock::now();
  MadeKernel made;
  if (const std::optional<std::string> path = cache_.find(name, key)) {
    // A library that does not load is built anew: it may need another C library than this machine has.
    std::string failure;
    made.kernel = CpuKernel::open(*path, name, failure);
    made.isFromDisk = true;
    made.loadTime = Clock::now() - start;
  }
  return made;
}

MadeKernel KernelToolchain::make(const ContentHash& name, const std::string& text) {
  const std::string key = keyOf(text);
  if (!cache_.isOn()) {
    if (!cache_.problem().empty() && !hasToldProblem_.exchange(true)) {
      addWarning(cache_.problem());
    }
    return build(name, key, text);
  }
  if (MadeKernel made = fromDisk(name, key); made.kernel != nullptr) {
    return made;
  }
  const DiskCacheLock lock(cache_.lockPath(name), kCompileLimit + std::chrono::seconds(10));
  // The one that held the lock has built it.
  if (MadeKernel made = fromDisk(name, key); made.kernel != nullptr) {
    return made;
  }
  return build(name, key, text);
}

MadeKernel KernelToolchain::build(const ContentHash& name, const std::string& key,
                                  const std::string& text) {
  if (!hasCompiler()) {
    return {};
  }
  const std::vector<std::string> roots = buildRoots(cache_.isOn() ? cache_.directory() : "");
  MadeKernel made;
  const size_t first = way_;
  for (size_t way = first;; ++way) {
    const Clock::time_point start = Clock::now();
    KernelBuild build = buildKernel(*compiler_, text, roots, way);
    made.compileTime += Clock::now() - start;
    if (build.directory == nullptr) {
      if (!hasNoRoom_.exchange(true)) {
        addWarning(
            evaluatorInstead("no directory was found to build kernels in: TMPDIR, /tmp and "
                             "/dev/shm are full, cannot "
                             "be written or cannot run programs",
                             "Name another directory in TMPDIR"));
      }
      return made;
    }
    made.kernel = build.library.empty() ? nullptr : load(name, key, build);
    if (made.kernel != nullptr) {
      // Another text may have been at fault, and not the way.
      if (way != first && !compilerWorks(first)) {
        way_ = way;
      }
      return made;
    }
    if (way + 1 < compiler_->ways.size() && !build.mayPass) {
      continue;
    }
    if (build.library.empty() && !build.mayPass && !compilerWorks(way)) {
      if (!isCompilerBroken_.exchange(true)) {
        addWarning(evaluatorInstead(
            "the compiler '" + compiler_->words.front() + "' does not work: " + build.failure,
            "Repair it, or name another one in MESHFUSE_CXX"));
      }
      return made;
    }
    throwRefused(name, text, build);
  }
}

std::shared_ptr<const CpuKernel> KernelToolchain::load(const ContentHash& name,
                                                       const std::string& key, KernelBuild& build) {
  std::optional<std::string> stored;
  if (const std::optional<std::string> library = readFile(build.library)) {
    stored = cache_.store(name, key, *library);
  }
  if (!stored && cache_.isOn() && !hasUnwritableCache_.exchange(true)) {
    addWarning("the cache of kernels in '" + cache_.directory() +
               "' cannot be written (read-only, or full); kernels are built anew in every process");
  }
  std::shared_ptr<const CpuKernel> kernel;
  if (stored) {
    kernel = CpuKernel::open(*stored, name, build.failure);
  }
  return kernel != nullptr ? kernel : CpuKernel::open(build.library, name, build.failure);
}

void KernelToolchain::throwRefused(const ContentHash& name, const std::string& text,
                                   KernelBuild& build) {
  std::string path = cache_.refusedTextPath(name);
  if (!cache_.isOn() || !writeFile(path, text)) {
    path = build.source;
    build.directory->keep();
  }
  if (build.mayPass) {
    throwUser(ErrorKind::Runtime, {.op = "compilation",
                                   .rule = "the compiler has to finish a kernel's text",
                                   .found = "'" + compiler_->words.front() + "' ended with " +
                                            build.failure + "\nfor '" + path + "'",
                                   .wayOut = "try again with more memory and disk space free"});
  }
  throw InternalError("internal error (a bug in meshfuse): a generated kernel, kept as '" + path +
                      "', is refused: " + build.failure);
}

bool KernelToolchain::compilerWorks(size_t way) {
  constexpr const char* kSmallest =
      "extern \"C\" __attribute__((visibility(\"default\"))) void meshfuse_kernel() {}\n";
  return !buildKernel(*compiler_, kSmallest, buildRoots(""), way).library.empty();
}

}  // namespace meshfuse
