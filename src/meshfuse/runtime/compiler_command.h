// Which compiler builds CPU kernels, with which flags, and what its output depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace meshfuse {

/// Words that some compilers refuse: flags, and what is linked.
struct CompilerWay {
  std::vector<std::string> flags;
  std::vector<std::string> libraries;
};

/// A compiler for CPU kernels of this machine.
struct CompilerCommand {
  /// The program's path, the words that belong to it (`c++` of `zig c++`), and the flags that all compilers take.
  std::vector<std::string> words;
  /// What else it is given, the best first; every compiler takes the last, which adds what the user asks for alone.
  std::vector<CompilerWay> ways = {{}};
  /// Everything besides a kernel's text that decides what is built, as text: the words, the size and time of change of the
  /// files among them, the C library, the processor and its instruction sets.
  std::string identity;
};

/// `$MESHFUSE_CXX`, a path or words split at spaces, and nothing else where it is set; otherwise the first of `c++`, `g++` and
/// `clang++` on PATH; otherwise `fallback`, a program and its first arguments. None where no such program can be run. `$MESHFUSE_CXXFLAGS`, words split at spaces, come
/// after all other flags.
std::optional<CompilerCommand> findCompiler(const std::vector<std::string>& fallback);

/// The processor's own description of itself and its instruction sets.
std::string processorIdentity();

}  // namespace meshfuse
