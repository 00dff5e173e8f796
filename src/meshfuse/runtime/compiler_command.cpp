#include "meshfuse/runtime/compiler_command.h"

#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <sys/stat.h>
#include <unistd.h>

namespace meshfuse {

namespace {

std::vector<std::string> splitAtSpaces(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

bool isProgram(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// The path that a program's name stands for, as a shell finds it; empty where there is none.
std::string pathOf(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return isProgram(program) ? program : "";
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    if (isProgram(candidate)) {
      return candidate;
    }
  }
  return "";
}

/// What makes fast kernels, in one place. Kernels hold no OpenMP calls: only its simd pragmas are on. Products and sums are
/// not contracted, so that a kernel's bits don't depend on the instruction set. Whole numbers wrap.
std::vector<std::string> kernelFlags() {
  std::vector<std::string> flags = {"-std=c++17",
                                    "-O3",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-ffp-contract=off",
                                    "-fwrapv",
                                    "-fopenmp-simd",
                                    "-fPIC",
                                    "-shared",
                                    "-fvisibility=hidden",
                                    "-pipe"};
#if defined(__x86_64__) || defined(__i386__)
  flags.emplace_back("-march=native");
  if (__builtin_cpu_supports("avx512f") != 0) {
    flags.emplace_back("-mprefer-vector-width=512");
  }
#else
  // Compilers for other processors take the name of one here.
  flags.emplace_back("-mcpu=native");
#endif
  return flags;
}

/// GCC's own flags, which others refuse.
std::vector<std::string> gccFlags() {
  return {
      // What kernels gain from -O3, for three quarters of its time.
      "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fpeel-loops", "-funswitch-loops",
      "-floop-unroll-and-jam",
      // They copy the arms of a ternary before a loop is vectorized, which then it is not.
      "-fno-tree-pre", "-fno-thread-jumps",
      // GCC 12 loses the rounding of two doubles that it turns into floats and back side by side.
      "-fno-tree-slp-vectorize"};
}

/// Kernels call mathematics and moves of memory alone, and begin nothing when they are loaded: looking through all that programs
/// are linked with takes ten times as long as the kernel itself.
std::vector<CompilerWay> waysToBuild(const std::vector<std::string>& asked) {
  std::vector<CompilerWay> ways = {{gccFlags(), {}}, {}, {}};
  for (size_t i = 0; i < 2; ++i) {
    ways[i].flags.emplace_back("-nostdlib");
    ways[i].libraries = {"-lm", "-lgcc"};
  }
  for (CompilerWay& way : ways) {
    way.flags.insert(way.flags.end(), asked.begin(), asked.end());
  }
  return ways;
}

/// A changed compiler is told by its size and time of change: asking for its version would start it in every process.
std::string fileIdentity(const std::string& path) {
  struct stat status{};
  if (path.find('/') == std::string::npos || ::stat(path.c_str(), &status) != 0) {
    return "";
  }
  return " (" + std::to_string(status.st_size) + " bytes, changed " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ")";
}

}  // namespace

std::string processorIdentity() {
  // The first processor stands for all. One short read: the kernel makes up the text of as many as are asked for.
  std::array<char, 8192> text{};
  const int file = ::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = file < 0 ? 0 : ::read(file, text.data(), text.size());
  if (file >= 0) {
    ::close(file);
  }
  std::istringstream lines(std::string(text.data(), static_cast<size_t>(bytes > 0 ? bytes : 0)));
  std::string identity;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    for (std::string_view field : {"vendor_id", "cpu family", "model", "flags", "CPU implementer",
                                   "CPU architecture", "CPU variant", "CPU part", "Features"}) {
      if (line.starts_with(field)) {
        identity += line + "\n";
        break;
      }
    }
  }
  return identity;
}

std::optional<CompilerCommand> findCompiler(const std::vector<std::string>& fallback) {
  std::vector<std::vector<std::string>> candidates = {{"c++"}, {"g++"}, {"clang++"}, fallback};
  if (const char* asked = std::getenv("MESHFUSE_CXX"); asked != nullptr && *asked != '\0') {
    candidates = {isProgram(asked) ? std::vector<std::string>{asked} : splitAtSpaces(asked)};
  }
  for (const std::vector<std::string>& candidate : candidates) {
    CompilerCommand command{.words = candidate, .identity = ""};
    const std::string path = command.words.empty() ? "" : pathOf(command.words.front());
    if (path.empty()) {
      continue;
    }
    command.words.front() = path;
    for (const std::string& flag : kernelFlags()) {
      command.words.push_back(flag);
    }
    const char* flags = std::getenv("MESHFUSE_CXXFLAGS");
    command.ways = waysToBuild(splitAtSpaces(flags != nullptr ? flags : ""));
    for (const std::string& word : command.words) {
      command.identity += word + fileIdentity(word) + "\n";
    }
    for (const CompilerWay& way : command.ways) {
      for (const auto* words : {&way.flags, &way.libraries}) {
        for (const std::string& word : *words) {
          command.identity += word + "\n";
        }
      }
    }
    command.identity += std::string("glibc ") + ::gnu_get_libc_version() + "\n";
    command.identity += processorIdentity();
    return command;
  }
  return std::nullopt;
}

}  // namespace meshfuse
