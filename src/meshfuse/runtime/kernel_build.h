// Building one kernel: text in, shared object out.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/runtime/compiler_command.h"

namespace meshfuse {

/// A private temporary directory, removed with its owner.
class BuildDirectory {
 public:
  /// Made in `root`; `path` is empty where that is not possible.
  explicit BuildDirectory(const std::string& root);
  BuildDirectory(const BuildDirectory&) = delete;
  BuildDirectory& operator=(const BuildDirectory&) = delete;
  ~BuildDirectory();
  const std::string& path() const noexcept { return path_; }
  /// Leaves the directory where it is.
  void keep() noexcept { isKept_ = true; }

 private:
  std::string path_;
  bool isKept_ = false;
};

/// What became of a build.
struct KernelBuild {
  /// Null where no directory was found to build in.
  std::unique_ptr<BuildDirectory> directory;
  /// The shared object's path; empty where the compiler failed.
  std::string library;
  /// The path of the text that was compiled.
  std::string source;
  /// How the compiler ended and the first lines of its errors.
  std::string failure;
  /// The compiler was stopped or killed: the same text may compile another time.
  bool mayPass = false;
};

/// Compilers are stopped after this time.
inline constexpr std::chrono::seconds kCompileLimit{120};

/// `$TMPDIR`, `/tmp`, `/dev/shm` and `last`, where it is not empty.
std::vector<std::string> buildRoots(const std::string& last);

/// Compiles a translation unit, in one of the compiler's ways, in the first of the `roots` that can be written, has room and can run programs.
KernelBuild buildKernel(const CompilerCommand& compiler, std::string_view text,
                        const std::vector<std::string>& roots, size_t way = 0,
                        std::chrono::milliseconds limit = kCompileLimit);

}  // namespace meshfuse
