// A directory for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "meshfuse/base/error.h"

namespace meshfuse {

/// Empty at first, removed with all in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    internalCheck(::mkdtemp(path_.data()) != nullptr, "a scratch directory can be made");
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// How many files of a directory have names that end so.
  static int countIn(const std::string& directory, const std::string& ending) {
    int found = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      found += file.path().native().ends_with(ending) ? 1 : 0;
    }
    return found;
  }

 private:
  std::string path_ = "/tmp/meshfuse-test-XXXXXX";
};

/// A variable of the environment for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    const char* before = std::getenv(name);
    hadOne_ = before != nullptr;
    before_ = hadOne_ ? before : "";
    ::setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { hadOne_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool hadOne_ = false;
};

}  // namespace meshfuse
