// Which compiler is found, and what a kernel's key says of it.
#include "meshfuse/runtime/compiler_command.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "meshfuse/runtime/file_bytes.h"
#include "runtime/scratch_directory.h"

namespace meshfuse {
namespace {

void writeProgram(const std::string& path) {
  ASSERT_TRUE(writeFile(path, "#!/bin/sh\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST(CompilerCommand, TheFirstOnPathIsTaken) {
  const ScratchDirectory first;
  const ScratchDirectory second;
  const ScopedVariable asked("MESHFUSE_CXX", "");
  const ScopedVariable path("PATH", first.path() + ":" + second.path());
  EXPECT_FALSE(findCompiler({}).has_value());
  EXPECT_FALSE(findCompiler({"zig", "c++"}).has_value());
  writeProgram(second / "zig");
  std::vector<std::string> words = findCompiler({"zig", "c++"})->words;
  EXPECT_EQ(words[0], second / "zig");
  EXPECT_EQ(words[1], "c++");
  writeProgram(second / "clang++");
  EXPECT_EQ(findCompiler({"zig", "c++"})->words[0], second / "clang++");
  writeProgram(second / "g++");
  EXPECT_EQ(findCompiler({"zig", "c++"})->words[0], second / "g++");
  writeProgram(second / "c++");
  EXPECT_EQ(findCompiler({"zig", "c++"})->words[0], second / "c++");
  ASSERT_TRUE(writeFile(first / "c++", "no program"));
  EXPECT_EQ(findCompiler({})->words[0], second / "c++") << "a file that cannot be run";
  writeProgram(first / "c++");
  EXPECT_EQ(findCompiler({})->words[0], first / "c++");
}

TEST(CompilerCommand, TheOneAskedForIsTakenOrNone) {
  const ScratchDirectory scratch;
  writeProgram(scratch / "my-cc");
  const ScopedVariable asked("MESHFUSE_CXX", (scratch / "my-cc") + "  --sysroot /");
  const std::vector<std::string> words = findCompiler({})->words;
  EXPECT_EQ(words[0], scratch / "my-cc");
  EXPECT_EQ(words[1], "--sysroot");
  EXPECT_EQ(words[2], "/");
  EXPECT_NE(std::find(words.begin(), words.end(), "-O3"), words.end());
  writeProgram(scratch / "my other cc");
  const ScopedVariable spaced("MESHFUSE_CXX", scratch / "my other cc");
  EXPECT_EQ(findCompiler({})->words[0], scratch / "my other cc");
  const ScopedVariable missing("MESHFUSE_CXX", scratch / "not-there");
  EXPECT_FALSE(findCompiler({"c++"}).has_value());
}

TEST(CompilerCommand, FlagsThatAreAskedForComeLastAndCountInTheKey) {
  const ScratchDirectory scratch;
  writeProgram(scratch / "my-cc");
  const ScopedVariable asked("MESHFUSE_CXX", scratch / "my-cc");
  const std::string plain = findCompiler({})->identity;
  const ScopedVariable flags("MESHFUSE_CXXFLAGS", " -O1  -g");
  const CompilerCommand command = *findCompiler({});
  EXPECT_NE(command.identity, plain);
  ASSERT_FALSE(command.ways.empty());
  for (const CompilerWay& way : command.ways) {
    ASSERT_GE(way.flags.size(), 2U);
    EXPECT_EQ(way.flags[way.flags.size() - 2], "-O1");
    EXPECT_EQ(way.flags.back(), "-g");
  }
}

TEST(CompilerCommand, ItsIdentityChangesWithTheCompilerAlone) {
  const ScratchDirectory scratch;
  writeProgram(scratch / "my-cc");
  const ScopedVariable asked("MESHFUSE_CXX", scratch / "my-cc");
  const std::string identity = findCompiler({})->identity;
  EXPECT_EQ(findCompiler({})->identity, identity);
  EXPECT_NE(identity.find("-ffp-contract=off"), std::string::npos);
  EXPECT_NE(identity.find("glibc 2."), std::string::npos);
  EXPECT_NE(identity.find(processorIdentity()), std::string::npos);
  EXPECT_FALSE(processorIdentity().empty());
  EXPECT_EQ(processorIdentity().find("MHz"), std::string::npos) << "which differs by the moment";
  ASSERT_TRUE(writeFile(scratch / "my-cc", "#!/bin/sh\n# newer\n"));
  EXPECT_NE(findCompiler({})->identity, identity);
}

}  // namespace
}  // namespace meshfuse
