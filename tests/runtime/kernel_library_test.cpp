// Kernels by their text, with the real compiler: in one process, in several, and where something is missing.
#include "meshfuse/runtime/kernel_library.h"

#include <cmath>
#include <filesystem>
#include <future>
#include <map>
#include <regex>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "meshfuse/base/error.h"
#include "meshfuse/runtime/child_process.h"
#include "meshfuse/runtime/file_bytes.h"
#include "meshfuse/runtime/kernel_toolchain.h"
#include "runtime/kernel_texts.h"
#include "runtime/scratch_directory.h"

namespace meshfuse {
namespace {

/// What a process of tests/runtime/kernel_cache_driver.cpp printed: its numbers by name, and everything it wrote.
struct DriverResult {
  std::map<std::string, double> numbers;
  std::string output;

  int operator[](const std::string& name) const {
    return numbers.contains(name) ? static_cast<int>(numbers.at(name)) : -1;
  }
};

DriverResult runDriver(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  static std::atomic<int> runs{0};
  const ScratchDirectory scratch;
  ChildProcess child;
  child.words = {std::filesystem::read_symlink("/proc/self/exe").parent_path().native() +
                 "/meshfuse_kernel_cache_driver"};
  child.words.insert(child.words.end(), arguments.begin(), arguments.end());
  child.environment = environment;
  child.outputPath = scratch / std::to_string(runs++);
  child.limit = std::chrono::seconds(120);
  const ProcessEnd end = runProcess(child);
  DriverResult result;
  result.output = readFile(child.outputPath).value_or("");
  EXPECT_EQ(toText(end), "exit status 0") << child.words.front() << "\n" << result.output;
  static const std::regex number("(\\w+)=(-?[0-9.]+)");
  for (std::sregex_iterator found(result.output.begin(), result.output.end(), number), last;
       found != last; ++found) {
    result.numbers[(*found)[1]] = std::stod((*found)[2]);
  }
  return result;
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class KernelLibraryTest : public ::testing::Test {
 protected:
  std::string cacheVariable() const { return "MESHFUSE_CACHE_DIR=" + (scratch_ / "cache"); }
  KernelToolchain toolchain() const {
    return {findCompiler({}), {.directory = scratch_ / "cache"}};
  }

  ScratchDirectory scratch_;
};

TEST_F(KernelLibraryTest, EqualTextsAreOneKernel) {
  const ScopedVariable cache("MESHFUSE_CACHE_DIR", scratch_ / "cache");
  const KernelCacheStatistics before = kernelCacheStatistics();
  const std::vector<std::string> texts = {addingText(7001), addingText(7002), addingText(7001)};
  const auto kernels = loadCpuKernels(texts);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(kernels[0], kernels[2]);
  EXPECT_EQ(runAdding(*kernels[0], 1.0), 7002.0);
  EXPECT_EQ(runAdding(*kernels[1], 1.0), 7003.0);
  EXPECT_NE(kernels[0]->identity(), kernels[1]->identity());
  EXPECT_EQ(kernels[0]->identity().hex().size(), 32U);
  EXPECT_EQ(loadCpuKernels(texts), kernels);
  EXPECT_TRUE(loadCpuKernels({}).empty());
  const KernelCacheStatistics after = kernelCacheStatistics();
  EXPECT_EQ(after.compiled - before.compiled + after.loadedFromDisk - before.loadedFromDisk, 2);
  EXPECT_EQ(after.foundInMemory - before.foundInMemory, 1 + 3);
  EXPECT_EQ(after.failed, before.failed);
}

TEST_F(KernelLibraryTest, ThreadsThatAskAtOnceCompileOnce) {
  const KernelCacheStatistics before = kernelCacheStatistics();
  std::vector<std::future<std::vector<std::shared_ptr<const CpuKernel>>>> calls;
  for (int t = 0; t < 8; ++t) {
    calls.push_back(std::async(std::launch::async, [t] {
      const int first = 7100 + t % 2;  // in another order
      return loadCpuKernels(
          std::vector<std::string>{addingText(first), addingText(14201 - first), addingText(7102)});
    }));
  }
  for (auto& call : calls) {
    for (const auto& kernel : call.get()) {
      EXPECT_NE(kernel, nullptr);
    }
  }
  const KernelCacheStatistics after = kernelCacheStatistics();
  EXPECT_EQ(after.compiled - before.compiled + after.loadedFromDisk - before.loadedFromDisk, 3);
  EXPECT_EQ(after.foundInMemory - before.foundInMemory, 21);
}

TEST_F(KernelLibraryTest, ARefusedTextIsKeptAndNamed) {
  const ScopedVariable cache("MESHFUSE_CACHE_DIR", scratch_ / "cache");
  const std::string bad = addingText(1) + "int broken = \"not a number\";\nint other = unknown;\n";
  std::string told;
  for (int i = 0; i < 2; ++i) {
    try {
      loadCpuKernels(std::vector<std::string>{addingText(7201), bad});
      FAIL() << "no error";
    } catch (const InternalError& error) {
      EXPECT_TRUE(told.empty() || told == error.what()) << "the second time without a compiler";
      told = error.what();
    }
  }
  std::smatch path;
  ASSERT_TRUE(
      std::regex_search(told, path, std::regex("kept as '([^']*)', is refused: exit status 1\n")))
      << told;
  EXPECT_NE(told.find("error: invalid conversion"), std::string::npos) << told;
  EXPECT_NE(told.find("'unknown' was not declared"), std::string::npos) << told;
  EXPECT_EQ(readFile(path[1]).value_or("none"), bad);
  // In the cache, or alone in a directory of its own.
  std::filesystem::remove(path[1].str());
  const std::filesystem::path parent = std::filesystem::path(path[1].str()).parent_path();
  if (parent.filename().native().starts_with("meshfuse-")) {
    std::filesystem::remove_all(parent);
  }
  EXPECT_EQ(runAdding(*loadCpuKernels(std::vector<std::string>{addingText(7201)})[0], 0.0), 7201.0);
}

TEST_F(KernelLibraryTest, EightProcessesCompileEachKernelOnce) {
  constexpr int kProcesses = 8;
  constexpr int kKernels = 3;
  std::vector<std::future<DriverResult>> runs;
  for (int p = 0; p < kProcesses; ++p) {
    runs.push_back(std::async(std::launch::async, [&] {
      return runDriver({std::to_string(kKernels)}, {cacheVariable()});
    }));
  }
  int compiled = 0;
  for (auto& run : runs) {
    const DriverResult result = run.get();
    EXPECT_EQ(result["good"], kKernels) << result.output;
    EXPECT_EQ(result["again"], kKernels);
    EXPECT_EQ(result["compiled"] + result["disk"], kKernels);
    EXPECT_EQ(result["memory"], kKernels);
    compiled += result["compiled"];
  }
  EXPECT_EQ(compiled, kKernels);
  EXPECT_EQ(ScratchDirectory::countIn(scratch_ / "cache", ".so"), kKernels);
  EXPECT_EQ(ScratchDirectory::countIn(scratch_ / "cache", ""), kKernels)
      << "no locks, no temporaries";
}

TEST_F(KernelLibraryTest, TornFilesAreBuiltAnew) {
  EXPECT_EQ(runDriver({"1"}, {cacheVariable()})["compiled"], 1);
  EXPECT_EQ(runDriver({"1"}, {cacheVariable()})["disk"], 1);
  for (const auto& file : std::filesystem::directory_iterator(scratch_ / "cache")) {
    std::filesystem::resize_file(file.path(), file.file_size() / 2);
  }
  const DriverResult rebuilt = runDriver({"1"}, {cacheVariable()});
  EXPECT_EQ(rebuilt["compiled"], 1) << rebuilt.output;
  EXPECT_EQ(rebuilt["good"], 1);
  EXPECT_EQ(runDriver({"1"}, {cacheVariable()})["disk"], 1);
}

TEST_F(KernelLibraryTest, AWholeEntryThatDoesNotLoadIsBuiltAnew) {
  KernelToolchain made = toolchain();
  const std::string text = addingText(3);
  const ContentHash name = contentHash(made.keyOf(text));
  DiskCache cache({.directory = scratch_ / "cache"});
  ASSERT_TRUE(cache.store(name, made.keyOf(text), "built for another machine").has_value());
  const MadeKernel kernel = made.make(name, text);
  ASSERT_NE(kernel.kernel, nullptr);
  EXPECT_FALSE(kernel.isFromDisk);
  EXPECT_EQ(runAdding(*kernel.kernel, 1.0), 4.0);
  EXPECT_TRUE(toolchain().make(name, text).isFromDisk);
}

TEST_F(KernelLibraryTest, WithoutACompilerOneWarningSaysSo) {
  const DriverResult result = runDriver({"2"}, {cacheVariable(), "MESHFUSE_CXX=/no/such/compiler"});
  EXPECT_EQ(result["good"], 0);
  EXPECT_EQ(result["again"], 0);
  EXPECT_EQ(occurrences(result.output, "no compiler for CPU kernels was found"), 1U)
      << result.output;
  EXPECT_NE(result.output.find("on the evaluator instead"), std::string::npos);
}

TEST_F(KernelLibraryTest, ACompilerThatDoesNotWorkIsNoCompiler) {
  const DriverResult result = runDriver({"2"}, {cacheVariable(), "MESHFUSE_CXX=false"});
  EXPECT_EQ(result["good"], 0);
  EXPECT_EQ(occurrences(result.output, "meshfuse: "), 1U) << result.output;
  EXPECT_NE(result.output.find("/false' does not work: exit status 1"), std::string::npos)
      << result.output;
}

TEST_F(KernelLibraryTest, AFallbackCompilerCountsFromTheNextCall) {
  const DriverResult result =
      runDriver({"1", "fallback"}, {cacheVariable(), "PATH=/no/such/folder", "MESHFUSE_CXX="});
  EXPECT_EQ(result["without"], 0) << result.output;
  EXPECT_EQ(result["good"], 1) << result.output;
  EXPECT_EQ(occurrences(result.output, "no compiler for CPU kernels was found"), 1U)
      << result.output;
}

TEST_F(KernelLibraryTest, RefusedDirectoriesAreNotUsed) {
  ASSERT_TRUE(std::filesystem::create_directory(scratch_ / "cache"));
  ASSERT_EQ(::chmod((scratch_ / "cache").c_str(), 0777), 0);
  const DriverResult result = runDriver({"2"}, {cacheVariable()});
  EXPECT_EQ(result["compiled"], 2);
  EXPECT_EQ(result["again"], 2);
  EXPECT_EQ(occurrences(result.output, "users other than its owner can write to it"), 1U)
      << result.output;
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "cache"));
}

TEST_F(KernelLibraryTest, AReadOnlyDirectoryServesWhatItHas) {
  EXPECT_EQ(runDriver({"1"}, {cacheVariable()})["compiled"], 1);
  ASSERT_EQ(::chmod((scratch_ / "cache").c_str(), 0500), 0);
  DriverResult result = runDriver({"1", "powerless"}, {cacheVariable()});
  EXPECT_EQ(result["disk"], 1) << result.output;
  EXPECT_EQ(occurrences(result.output, "meshfuse: "), 0U) << result.output;
  result = runDriver({"3", "powerless"}, {cacheVariable()});
  EXPECT_EQ(result["good"], 3);
  EXPECT_EQ(result["disk"], 1);
  EXPECT_EQ(result["compiled"], 2);
  EXPECT_EQ(occurrences(result.output, "cannot be written (read-only, or full)"), 1U)
      << result.output;
  EXPECT_EQ(ScratchDirectory::countIn(scratch_ / "cache", ""), 1);
  ASSERT_EQ(::chmod((scratch_ / "cache").c_str(), 0700), 0);
}

TEST_F(KernelLibraryTest, SwitchedOffNothingIsWritten) {
  const ScratchDirectory home;
  const ScratchDirectory temporary;
  const DriverResult result = runDriver(
      {"2"}, {"MESHFUSE_CACHE_DIR=", "HOME=" + home.path(), "TMPDIR=" + temporary.path()});
  EXPECT_EQ(result["compiled"], 2);
  EXPECT_EQ(occurrences(result.output, "meshfuse: "), 0U) << result.output;
  EXPECT_TRUE(std::filesystem::is_empty(home.path()));
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path())) << "builds are removed";
}

TEST_F(KernelLibraryTest, AChildForkedWhileKernelsAreMadeMakesItsOwn) {
  const DriverResult result = runDriver({"1", "fork"}, {cacheVariable()});
  EXPECT_EQ(result["child"], 0) << result.output;
  EXPECT_EQ(result["good"], 1);
}

TEST_F(KernelLibraryTest, ACompilerThatTakesTooLongIsStopped) {
  ASSERT_TRUE(writeFile(scratch_ / "slow", "#!/bin/sh\nsleep 300\n"));
  std::filesystem::permissions(scratch_ / "slow", std::filesystem::perms::owner_all);
  const KernelBuild build = buildKernel({.words = {scratch_ / "slow"}, .identity = ""}, "text",
                                        buildRoots(""), 0, std::chrono::milliseconds(1000));
  EXPECT_EQ(build.library, "");
  EXPECT_EQ(build.failure, "stopped after 1 s");
  EXPECT_TRUE(build.mayPass);
}

TEST_F(KernelLibraryTest, ACompilerThatIsKilledIsTriedAgain) {
  ASSERT_TRUE(writeFile(scratch_ / "killed", "#!/bin/sh\nkill -9 $$\n"));
  std::filesystem::permissions(scratch_ / "killed", std::filesystem::perms::owner_all);
  const ScopedVariable asked("MESHFUSE_CXX", scratch_ / "killed");
  KernelToolchain killed = toolchain();
  const std::string text = addingText(4);
  try {
    killed.make(contentHash(text), text);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Runtime);
    const std::string told = error.what();
    EXPECT_NE(told.find("the compiler has to finish a kernel's text: '" + (scratch_ / "killed") +
                        "' ended with signal 9"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("try again"), std::string::npos);
  }
}

/// A compiler that refuses a flag, and the runs of it.
std::string compilerWithout(const ScratchDirectory& scratch, const std::string& flag) {
  const std::string path = scratch / ("without" + flag);
  EXPECT_TRUE(writeFile(
      path, "#!/bin/sh\necho run >> '" + (scratch / "runs") + "'\ncase \" $* \" in *\" " + flag +
                " \"*) echo error: what is that; exit 1;; esac\nexec c++ \"$@\"\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST_F(KernelLibraryTest, ACompilerIsGivenWhatItTakes) {
  for (const std::string flag : {"-fno-tree-pre", "-lgcc"}) {
    const ScopedVariable asked("MESHFUSE_CXX", compilerWithout(scratch_, flag));
    KernelToolchain picky = toolchain();
    const auto runsFor = [&](int number) {
      std::filesystem::remove(scratch_ / "runs");
      const std::string text = addingText(number);
      const MadeKernel made = picky.make(contentHash(text + flag), text);
      EXPECT_EQ(runAdding(*made.kernel, 1.0), number + 1.0) << flag;
      return occurrences(readFile(scratch_ / "runs").value_or(""), "run");
    };
    EXPECT_GT(runsFor(11), 1U) << flag;
    EXPECT_EQ(runsFor(12), 1U) << flag << ": it is known by now";
    EXPECT_EQ(picky.takeWarning(), "");
  }
}

TEST_F(KernelLibraryTest, ATextThatIsRefusedChangesNothingForOthers) {
  const ScopedVariable asked("MESHFUSE_CXX", compilerWithout(scratch_, "-fno-such-flag"));
  KernelToolchain compiler = toolchain();
  const std::string odd = "int broken = nothing;\n";
  EXPECT_THROW(compiler.make(contentHash(odd), odd), InternalError);
  std::filesystem::remove(scratch_ / "runs");
  const std::string text = addingText(13);
  EXPECT_NE(compiler.make(contentHash(text), text).kernel, nullptr);
  EXPECT_EQ(readFile(scratch_ / "runs"), "run\n");
}

TEST_F(KernelLibraryTest, MathematicsOfTheLibraryIsFound) {
  const std::string text =
      "extern \"C\" double lgamma(double);\n" +
      std::regex_replace(addingText(14), std::regex("\\+ 14"), "+ lgamma(4.0)");
  ASSERT_NE(text.find("lgamma(4.0)"), std::string::npos) << text;
  KernelToolchain compiler = toolchain();
  const MadeKernel made = compiler.make(contentHash(text), text);
  EXPECT_DOUBLE_EQ(runAdding(*made.kernel, 1.0), 1.0 + std::lgamma(4.0));
}

TEST_F(KernelLibraryTest, DirectoriesWithoutRoomAreLeftOut) {
  const std::vector<std::string> roots = {scratch_ / "not there", "/proc", scratch_.path()};
  const KernelBuild build = buildKernel(*findCompiler({}), addingText(1), roots);
  EXPECT_TRUE(build.library.starts_with(scratch_.path())) << build.failure;
  EXPECT_EQ(buildKernel(*findCompiler({}), addingText(1), {"/proc"}).directory, nullptr);
}

}  // namespace
}  // namespace meshfuse
