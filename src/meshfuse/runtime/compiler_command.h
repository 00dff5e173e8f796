// Which compiler builds CPU kernels, with which flags, and what its output depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace meshfuse {

/// A compiler for CPU kernels of this machine.
struct CompilerCommand {
  /// The program's path, the words that belong to it (`c++` of `zig c++`), and the flags.
  std::vector<std::string> words;
  /// Everything besides a kernel's text that decides what is built, as text: the words, the size and time of change of the
  /// files among them, the C library, the processor and its instruction sets.
  std::string identity;
};

/// `$MESHFUSE_CXX`, a path or words split at spaces, and nothing else where it is set; otherwise the first of `c++`, `g++` and
/// `clang++` on PATH; otherwise `fallback`, a program and its first arguments. None where no such program can be run.
std::optional<CompilerCommand> findCompiler(const std::vector<std::string>& fallback);

/// The processor's own description of itself and its instruction sets.
std::string processorIdentity();

}  // namespace meshfuse
