// Compiles text as generated kernels are compiled, and loads it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace meshfuse {

inline constexpr const char* kKernelFlags =
    "-std=c++17 -O2 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops -funswitch-loops "
    "-floop-unroll-and-jam -march=native -fno-math-errno -fno-trapping-math -ffp-contract=off "
    "-fopenmp-simd "
    "-fwrapv -fno-tree-pre -fno-thread-jumps -fno-tree-slp-vectorize -fPIC -shared";

/// A shared object made of a text, loaded as long as this lives.
class CompiledText {
 public:
  explicit CompiledText(const std::string& text, const std::string& moreFlags = "") {
    std::string folder = (std::filesystem::temp_directory_path() / "device_text_XXXXXX").string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    std::ofstream(folder_ / "kernel.cpp") << text;
    const char* compiler = std::getenv("MESHFUSE_CXX");
    const std::string command = std::string(compiler == nullptr ? "c++" : compiler) + " " +
                                kKernelFlags + " " + moreFlags + " -o " + path("kernel.so") + " " +
                                path("kernel.cpp") + " 2> " + path("report");
    // A test names its compiler: NOLINTNEXTLINE(bugprone-command-processor)
    EXPECT_EQ(std::system(command.c_str()), 0) << report() << "\n" << text;
    library_ = dlopen(path("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  CompiledText(const CompiledText&) = delete;
  CompiledText& operator=(const CompiledText&) = delete;
  ~CompiledText() {
    if (library_ != nullptr) {
      dlclose(library_);
    }
    std::filesystem::remove_all(folder_);
  }

  template <class Function>
  Function* function(const std::string& name) const {
    void* const found = library_ == nullptr ? nullptr : dlsym(library_, name.c_str());
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function*>(found);
  }

  /// What the compiler wrote.
  std::string report() const {
    std::stringstream text;
    text << std::ifstream(path("report")).rdbuf();
    return text.str();
  }

 private:
  std::string path(const char* file) const { return (folder_ / file).string(); }

  std::filesystem::path folder_;
  void* library_ = nullptr;
};

}  // namespace meshfuse
