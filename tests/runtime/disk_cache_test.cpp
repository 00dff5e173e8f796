// The disk cache: whole entries or none, private directories, locks, bounds.
#include "meshfuse/runtime/disk_cache.h"

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meshfuse/runtime/file_bytes.h"
#include "runtime/scratch_directory.h"

namespace meshfuse {
namespace {

class DiskCacheTest : public ::testing::Test {
 protected:
  std::string directory() const { return scratch_ / "a/b/cache"; }
  std::string storeOne() {
    return cache_.store(name_, "the key", std::string(5000, 'x')).value_or("not stored");
  }

  ScratchDirectory scratch_;
  DiskCache cache_{{.directory = directory()}};
  ContentHash name_ = contentHash("name");
};

TEST_F(DiskCacheTest, AnEntryIsFoundByTheWholeKey) {
  ASSERT_TRUE(cache_.isOn()) << cache_.problem();
  struct stat status{};
  ASSERT_EQ(::stat(directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_FALSE(cache_.find(name_, "the key").has_value());
  const std::string path = storeOne();
  EXPECT_EQ(path, directory() + "/" + name_.hex() + ".so");
  EXPECT_EQ(cache_.find(name_, "the key"), path);
  EXPECT_FALSE(cache_.find(name_, "another key of the same name").has_value());
  EXPECT_TRUE(readFile(path)->starts_with(std::string(5000, 'x')));
  const DiskCache again({.directory = directory()});
  EXPECT_EQ(again.find(name_, "the key"), path);
}

TEST_F(DiskCacheTest, TornAndForeignFilesAreNoEntries) {
  const std::string path = storeOne();
  const std::string whole = *readFile(path);
  for (size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    ASSERT_TRUE(writeFile(path, whole.substr(0, size)));
    EXPECT_FALSE(cache_.find(name_, "the key").has_value()) << size;
  }
  for (size_t at = 0; at < whole.size(); at += at < 4990 ? 499 : 1) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    ASSERT_TRUE(writeFile(path, changed));
    EXPECT_FALSE(cache_.find(name_, "the key").has_value()) << at;
  }
  ASSERT_TRUE(writeFile(path, whole + whole.substr(0, 10)));
  EXPECT_FALSE(cache_.find(name_, "the key").has_value());
  EXPECT_EQ(storeOne(), path) << "the bad one is replaced";
  EXPECT_EQ(cache_.find(name_, "the key"), path);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(cache_.find(name_, "the key").has_value()) << "others can write to it";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_TRUE(writeFile(scratch_ / "elsewhere", whole));
  ASSERT_EQ(::symlink((scratch_ / "elsewhere").c_str(), path.c_str()), 0);
  EXPECT_FALSE(cache_.find(name_, "the key").has_value()) << "a link";
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache_.find(name_, "the key").has_value()) << "a pipe";
}

TEST_F(DiskCacheTest, DirectoriesThatOthersControlAreRefused) {
  const auto problemOf = [](const std::string& path) {
    const DiskCache refused({.directory = path});
    EXPECT_FALSE(refused.isOn());
    EXPECT_NE(refused.problem().find("MESHFUSE_CACHE_DIR names a directory that belongs to you"),
              std::string::npos);
    return refused.problem();
  };
  ASSERT_EQ(::chmod(directory().c_str(), 0770), 0);
  EXPECT_NE(problemOf(directory()).find("users other than its owner can write to it"),
            std::string::npos);
  ASSERT_EQ(::chmod(directory().c_str(), 0702), 0);
  EXPECT_NE(problemOf(directory()).find("can write to it"), std::string::npos);
  ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
  EXPECT_TRUE(DiskCache({.directory = directory()}).isOn()) << "others may read";
  // Root can give a directory away; for anybody else the root directory is another user's.
  const bool isGiven = ::chown(directory().c_str(), 12345, static_cast<gid_t>(-1)) == 0;
  EXPECT_NE(problemOf(isGiven ? directory() : "/").find("it belongs to user "), std::string::npos);
  ASSERT_TRUE(writeFile(scratch_ / "file", ""));
  EXPECT_NE(problemOf(scratch_ / "file").find("it is not a directory"), std::string::npos);
  EXPECT_NE(problemOf(scratch_ / "file/below").find("it cannot be made (Not a directory)"),
            std::string::npos);
}

TEST_F(DiskCacheTest, SwitchedOffItIsSilent) {
  DiskCache off({.directory = ""});
  EXPECT_FALSE(off.isOn());
  EXPECT_EQ(off.problem(), "");
  EXPECT_FALSE(off.find(name_, "k").has_value());
  EXPECT_FALSE(off.store(name_, "k", "x").has_value());
  EXPECT_FALSE(DiskCache({.directory = directory(), .capacity = 0}).isOn());
}

TEST_F(DiskCacheTest, SettingsComeFromTheEnvironment) {
  const ScopedVariable home("HOME", "/home/me");
  {
    const ScopedVariable base("XDG_CACHE_HOME", "");
    ::unsetenv("MESHFUSE_CACHE_DIR");
    EXPECT_EQ(diskCacheSettings().directory, "/home/me/.cache/meshfuse");
  }
  const ScopedVariable base("XDG_CACHE_HOME", "/base");
  EXPECT_EQ(diskCacheSettings().directory, "/base/meshfuse");
  EXPECT_EQ(diskCacheSettings().capacity, uint64_t{1} << 30);
  const ScopedVariable own("MESHFUSE_CACHE_DIR", "/mine");
  EXPECT_EQ(diskCacheSettings().directory, "/mine");
  const ScopedVariable none("MESHFUSE_CACHE_DIR", "");
  EXPECT_EQ(diskCacheSettings().directory, "");
  const ScopedVariable bytes("MESHFUSE_CACHE_BYTES", "12345");
  EXPECT_EQ(diskCacheSettings().capacity, 12345U);
  const ScopedVariable wrong("MESHFUSE_CACHE_BYTES", "12345 apples");
  try {
    diskCacheSettings();
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "MESHFUSE_CACHE_BYTES: it is a whole number of bytes: got '12345 apples'; "
                 "set it to such a number, or unset it");
  }
}

TEST_F(DiskCacheTest, WhatCannotBeWrittenLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string stored = storeOne();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(stored, "not stored");
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
  EXPECT_NE(storeOne(), "not stored");
}

TEST_F(DiskCacheTest, ARemovedDirectoryIsMadeAgain) {
  std::filesystem::remove_all(scratch_ / "a");
  EXPECT_FALSE(cache_.find(name_, "the key").has_value());
  const std::string path = storeOne();
  EXPECT_EQ(cache_.find(name_, "the key"), path);
  // Another one in its place is looked at as the first was.
  std::filesystem::remove_all(scratch_ / "a/b");
  ASSERT_TRUE(writeFile(scratch_ / "a/b", "a file"));
  EXPECT_EQ(storeOne(), "not stored");
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoFirst) {
  DiskCache small({.directory = directory(), .capacity = 100'000});
  const auto nameOf = [](int i) { return contentHash("entry " + std::to_string(i)); };
  const std::string own = directory() + "/notes.so";
  ASSERT_TRUE(writeFile(own, std::string(500'000, 'n')));
  const std::string library(9'000, 'x');
  uint64_t peak = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(small.store(nameOf(i), "k", library).has_value());
    EXPECT_TRUE(small.find(nameOf(0), "k").has_value()) << "used all the time " << i;
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory())) {
      bytes += file.path() == own ? 0 : file.file_size();
    }
    peak = std::max(peak, bytes);
  }
  EXPECT_LE(peak, 100'000U);
  EXPECT_GE(peak, 80'000U);
  EXPECT_TRUE(small.find(nameOf(29), "k").has_value());
  EXPECT_FALSE(small.find(nameOf(1), "k").has_value());
  EXPECT_TRUE(std::filesystem::exists(own)) << "not an entry";
  EXPECT_FALSE(small.store(nameOf(99), "k", std::string(200'000, 'x')).has_value()) << "too large";
}

TEST_F(DiskCacheTest, StaleTemporariesAreRemoved) {
  const std::string stem = directory() + "/" + name_.hex();
  for (const std::string& path : {stem + ".abcdef.tmp", stem + ".lock", directory() + "/own.tmp"}) {
    ASSERT_TRUE(writeFile(path, "x"));
    const std::array<timespec, 2> old = {timespec{1000, 0}, timespec{1000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old.data(), 0), 0);
  }
  ASSERT_TRUE(writeFile(stem + ".ghijkl.tmp", "x"));
  cache_.sweep(0);
  EXPECT_FALSE(std::filesystem::exists(stem + ".abcdef.tmp"));
  EXPECT_FALSE(std::filesystem::exists(stem + ".lock"));
  EXPECT_TRUE(std::filesystem::exists(stem + ".ghijkl.tmp")) << "perhaps being written";
  EXPECT_TRUE(std::filesystem::exists(directory() + "/own.tmp")) << "somebody else's";
}

TEST_F(DiskCacheTest, ALockExcludesUntilItsHolderEnds) {
  const std::string path = cache_.lockPath(name_);
  using std::chrono::milliseconds;
  {
    const DiskCacheLock held(path, milliseconds(0));
    EXPECT_TRUE(held.isHeld());
    const DiskCacheLock other(path, milliseconds(30));
    EXPECT_FALSE(other.isHeld());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  // A holder that is killed.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const DiskCacheLock held(path, milliseconds(0));
    ::alarm(60);
    [[maybe_unused]] const ssize_t told = ::write(ends[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char told = 0;
  ASSERT_EQ(::read(ends[0], &told, 1), 1);
  EXPECT_FALSE(DiskCacheLock(path, milliseconds(10)).isHeld());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(DiskCacheLock(path, milliseconds(5000)).isHeld());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(DiskCacheTest, ALockThatManyWantIsHeldByOne) {
  const std::string path = cache_.lockPath(name_);
  std::atomic<int> holders{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const DiskCacheLock lock(path, std::chrono::seconds(60));
        EXPECT_TRUE(lock.isHeld());
        EXPECT_EQ(++holders, 1);
        --holders;
      }
    });
  }
}

}  // namespace
}  // namespace meshfuse
