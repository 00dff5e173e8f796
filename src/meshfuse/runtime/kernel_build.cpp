#include "meshfuse/runtime/kernel_build.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "meshfuse/runtime/child_process.h"
#include "meshfuse/runtime/file_bytes.h"

namespace meshfuse {

namespace {

/// Less room than this may be why a compiler failed.
constexpr uint64_t kRoom = uint64_t{4} << 20;

bool canBuildIn(const std::string& root) {
  struct statvfs system{};
  return ::statvfs(root.c_str(), &system) == 0 && (system.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0 &&
         static_cast<uint64_t>(system.f_bavail) * system.f_frsize >= kRoom;
}

/// The lines that tell most: errors, or else whatever comes first.
std::string firstErrors(const std::string& output) {
  constexpr int kLines = 5;
  std::istringstream lines(output);
  std::string errors;
  std::string anything;
  int errorCount = 0;
  int lineCount = 0;
  for (std::string line; std::getline(lines, line) && errorCount < kLines;) {
    if (line.find("error") != std::string::npos) {
      errors += "\n  " + line;
      ++errorCount;
    }
    if (lineCount++ < kLines) {
      anything += "\n  " + line;
    }
  }
  return errorCount > 0 ? errors : anything;
}

KernelBuild buildIn(const std::string& root, const CompilerCommand& compiler, size_t way,
                    std::string_view text, std::chrono::milliseconds limit) {
  KernelBuild build;
  build.directory = std::make_unique<BuildDirectory>(root);
  const std::string& path = build.directory->path();
  build.source = path + "/kernel.cpp";
  const std::string library = path + "/kernel.so";
  const std::string messages = path + "/messages.txt";
  if (path.empty() || !writeFile(build.source, text)) {
    build.directory.reset();
    return build;
  }
  ChildProcess child;
  child.words = compiler.words;
  const auto& [flags, libraries] = compiler.ways[way];
  child.words.insert(child.words.end(), flags.begin(), flags.end());
  child.words.insert(child.words.end(), {build.source, "-o", library});
  child.words.insert(child.words.end(), libraries.begin(), libraries.end());
  // The compiler's own temporary files go with the directory; its messages are in one language.
  child.environment = {"TMPDIR=" + path, "LC_ALL=C"};
  child.outputPath = messages;
  child.limit = limit;
  const ProcessEnd end = runProcess(child);
  const bool isBuilt =
      std::filesystem::exists(library) && (end.how == ProcessEnd::How::Unknown ||
                                           (end.how == ProcessEnd::How::Exited && end.code == 0));
  if (isBuilt) {
    build.library = library;
    return build;
  }
  build.failure = toText(end) + firstErrors(readFile(messages).value_or(""));
  build.mayPass = end.how != ProcessEnd::How::Exited || !canBuildIn(root);
  return build;
}

}  // namespace

BuildDirectory::BuildDirectory(const std::string& root) : path_(root + "/meshfuse-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    path_.clear();
  }
}

BuildDirectory::~BuildDirectory() {
  if (!path_.empty() && !isKept_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

std::vector<std::string> buildRoots(const std::string& last) {
  std::vector<std::string> roots;
  if (const char* asked = std::getenv("TMPDIR"); asked != nullptr && *asked == '/') {
    roots.emplace_back(asked);
  }
  roots.insert(roots.end(), {"/tmp", "/dev/shm"});
  if (!last.empty()) {
    roots.push_back(last);
  }
  return roots;
}

KernelBuild buildKernel(const CompilerCommand& compiler, std::string_view text,
                        const std::vector<std::string>& roots, size_t way,
                        std::chrono::milliseconds limit) {
  KernelBuild build;
  for (const std::string& root : roots) {
    if (!canBuildIn(root)) {
      continue;
    }
    KernelBuild next = buildIn(root, compiler, way, text, limit);
    if (next.directory == nullptr) {
      continue;
    }
    build = std::move(next);
    // A directory that has filled up meanwhile: perhaps the next one does.
    if (!build.library.empty() || canBuildIn(root)) {
      break;
    }
  }
  return build;
}

}  // namespace meshfuse
