// Recycled memory for large results: exact statistics, bounds, pressure, threads, forks, and storages that behave as torch's.
#include "meshfuse/runtime/recycling_pool.h"

#include <fstream>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "meshfuse/runtime/allocation.h"
#include "meshfuse/runtime/block_memory.h"
#include "meshfuse/runtime/small_blocks.h"

namespace meshfuse {
namespace {

constexpr uint64_t kKi = 1024;
constexpr uint64_t kMi = 1024 * kKi;

at::Tensor allocate(uint64_t bytes) {
  const int64_t size = static_cast<int64_t>(bytes);
  return allocateCpu({{size}, {1}, caffe2::TypeMeta::Make<uint8_t>(), size});
}

class RecyclingPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setRecyclingPoolCap(256 * kMi);
    trimRecyclingPool();
    resetRecyclingPoolPeak();
    start_ = recyclingPoolStatistics();
  }
  /// What has changed since the test's start; the kept bytes and the peak are those of now.
  RecyclingPoolStatistics since() const {
    RecyclingPoolStatistics now = recyclingPoolStatistics();
    now.inUseBytes -= start_.inUseBytes;
    now.peakInUseBytes -= start_.inUseBytes;
    now.reservedBytes -= start_.reservedBytes;
    now.hits -= start_.hits;
    now.misses -= start_.misses;
    now.givenBackBytes -= start_.givenBackBytes;
    now.givenBackBlocks -= start_.givenBackBlocks;
    return now;
  }

 private:
  RecyclingPoolStatistics start_;
};

TEST(BlockMemory, ABlockIsAtMostAnEighthLargerThanWhatItServes) {
  size_t previousBytes = 0;
  size_t previousClass = 0;
  const auto check = [&](size_t asked) {
    const size_t bytes = blockBytes(asked);
    ASSERT_GE(bytes, asked);
    ASSERT_LE(bytes - asked, asked / 8) << asked;
    ASSERT_EQ(blockBytes(bytes), bytes);
    const size_t sizeClass = blockClass(bytes);
    ASSERT_LT(sizeClass, kBlockClasses);
    if (previousBytes != 0) {
      ASSERT_EQ(sizeClass, previousClass + (bytes != previousBytes ? 1 : 0)) << asked;
    }
    previousBytes = bytes;
    previousClass = sizeClass;
  };
  for (size_t asked = kLargestSmallBlock + 1; asked < 4 * kMi; asked += 61) {
    check(asked);
  }
  for (size_t power = 22; power < 62; ++power) {
    for (size_t eighth = 8; eighth < 16; ++eighth) {
      const size_t edge = (size_t{1} << power) / 8 * eighth;
      for (size_t asked : {edge, edge + 1}) {
        check(asked);
      }
    }
  }
}

TEST_F(RecyclingPoolTest, EveryBlockIsAligned) {
  std::vector<at::Tensor> tensors;
  for (uint64_t bytes = kLargestSmallBlock + 1; bytes < 12 * kMi; bytes = bytes * 9 / 7) {
    tensors.push_back(allocate(bytes).fill_(static_cast<int64_t>(tensors.size())));
    const auto address = reinterpret_cast<uintptr_t>(tensors.back().const_data_ptr());
    EXPECT_EQ(address % (bytes >= kHugePage ? kHugePage : 64), 0U) << bytes;
    EXPECT_EQ(tensors.back().storage().nbytes(), bytes);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_TRUE((tensors[i] == static_cast<int64_t>(i)).all().item<bool>()) << "separate";
  }
}

TEST_F(RecyclingPoolTest, StatisticsAreExact) {
  at::Tensor a = allocate(1000 * kKi);  // a block of 1024 KiB
  at::Tensor b = allocate(64 * kMi);
  EXPECT_EQ(since().inUseBytes, 1000 * kKi + 64 * kMi);
  EXPECT_EQ(since().reservedBytes, 1024 * kKi + 64 * kMi);
  EXPECT_EQ(since().misses, 2U);
  EXPECT_EQ(since().hits, 0U);
  const void* address = a.const_data_ptr();
  a.reset();
  EXPECT_EQ(since().inUseBytes, 64 * kMi);
  EXPECT_EQ(since().keptBytes, 1024 * kKi);
  EXPECT_EQ(since().keptBlocks, 1U);
  a = allocate(960 * kKi + 1);
  EXPECT_EQ(a.const_data_ptr(), address) << "same size class";
  EXPECT_EQ(since().hits, 1U);
  EXPECT_EQ(since().keptBytes, 0U);
  EXPECT_EQ(since().inUseBytes, 64 * kMi + 960 * kKi + 1);
  EXPECT_EQ(since().peakInUseBytes, 64 * kMi + 1000 * kKi);
  const at::Tensor c = allocate(960 * kKi);  // the class below
  EXPECT_EQ(since().misses, 3U);
  EXPECT_EQ(since().peakInUseBytes, 64 * kMi + 1920 * kKi + 1);
  b.reset();
  a.reset();
  resetRecyclingPoolPeak();
  EXPECT_EQ(since().peakInUseBytes, 960 * kKi);
  EXPECT_EQ(trimRecyclingPool(1024 * kKi), 64 * kMi) << "the one freed first";
  EXPECT_EQ(since().keptBytes, 1024 * kKi);
  EXPECT_EQ(trimRecyclingPool(), 1024 * kKi);
  EXPECT_EQ(trimRecyclingPool(), 0U);
  EXPECT_EQ(since().givenBackBytes, 64 * kMi + 1024 * kKi);
  EXPECT_EQ(since().givenBackBlocks, 2U);
  EXPECT_EQ(since().reservedBytes, 960 * kKi);
}

TEST_F(RecyclingPoolTest, NoMoreThanTheCapIsKept) {
  setRecyclingPoolCap(10 * kMi);
  EXPECT_EQ(since().capBytes, 10 * kMi);
  std::vector<at::Tensor> tensors;
  for (uint64_t bytes : {4 * kMi, 3 * kMi, 2 * kMi}) {
    tensors.push_back(allocate(bytes));
  }
  const void* third = tensors[2].const_data_ptr();
  for (at::Tensor& tensor : tensors) {
    tensor.reset();
  }
  EXPECT_EQ(since().keptBytes, 9 * kMi);
  allocate(11 * kMi).reset();
  EXPECT_EQ(since().keptBytes, 9 * kMi) << "larger than the cap: not kept, and nothing else goes";
  allocate(5 * kMi).reset();
  EXPECT_EQ(since().keptBytes, 10 * kMi) << "the block of 4 MiB was freed first";
  allocate(5 * kMi + kMi / 2).reset();
  EXPECT_EQ(since().keptBytes, 5 * kMi + kMi / 2) << "3, 2 and 5 MiB went";
  EXPECT_EQ(since().givenBackBlocks, 5U);
  setRecyclingPoolCap(256 * kMi);
  tensors[2] = allocate(2 * kMi).fill_(1);
  tensors[2].reset();
  third = allocate(2 * kMi).const_data_ptr();
  setRecyclingPoolCap(3 * kMi);
  EXPECT_EQ(since().keptBytes, 2 * kMi) << "a lower cap counts at once";
  EXPECT_EQ(allocate(2 * kMi).const_data_ptr(), third);
}

TEST_F(RecyclingPoolTest, SwitchedOffMemoryIsTorchs) {
  at::Tensor before = allocate(kMi);
  setRecyclingPoolCap(0);
  const at::Tensor a = allocate(kMi);
  EXPECT_EQ(a.storage().data_ptr().get_deleter(), c10::GetCPUAllocator()->raw_deleter());
  EXPECT_EQ(since().misses, 1U);
  before.reset();
  EXPECT_EQ(since().keptBytes, 0U);
  EXPECT_EQ(since().givenBackBlocks, 1U);
  EXPECT_EQ(since().inUseBytes, 0U);
}

class ProgramsAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    ++calls;
    return c10::GetDefaultCPUAllocator()->allocate(bytes);
  }
  void copy_data(void* target, const void* source, size_t count) const override {
    default_copy_data(target, source, count);
  }
  int calls = 0;
};

TEST_F(RecyclingPoolTest, AnAllocatorOfTheProgramIsUsed) {
  static ProgramsAllocator programs;
  c10::SetCPUAllocator(&programs);
  const at::Tensor a = allocate(kMi);
  c10::SetCPUAllocator(c10::GetDefaultCPUAllocator());
  EXPECT_EQ(programs.calls, 1);
  EXPECT_EQ(since().misses, 0U);
  const at::Tensor b = allocate(kMi);
  EXPECT_EQ(programs.calls, 1);
  EXPECT_EQ(since().misses, 1U);
}

TEST_F(RecyclingPoolTest, StoragesCanBeResized) {
  at::Tensor a = allocate(kMi).fill_(2);
  a.resize_({static_cast<int64_t>(3 * kMi)});
  EXPECT_TRUE((a.slice(0, 0, static_cast<int64_t>(kMi)) == 2).all().item<bool>());
  EXPECT_EQ(since().inUseBytes, 3 * kMi)
      << "the new memory comes from the pool, the old one went back";
  EXPECT_EQ(since().keptBytes, kMi);
  a.resize_({10}).fill_(1);
  EXPECT_EQ(a.sum().item<int64_t>(), 10);
  at::Tensor small = allocate(100).fill_(3);
  small.resize_({static_cast<int64_t>(kMi)});
  EXPECT_EQ(since().inUseBytes, 4 * kMi);
  EXPECT_TRUE((small.slice(0, 0, 100) == 3).all().item<bool>());
}

TEST_F(RecyclingPoolTest, FreedOnAnyThread) {
  at::Tensor a = allocate(2 * kMi);
  const void* address = a.const_data_ptr();
  std::thread([tensor = std::move(a)]() mutable { tensor.reset(); }).join();
  EXPECT_EQ(allocate(2 * kMi).const_data_ptr(), address);
  setRecyclingPoolCap(3 * kMi);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (uint64_t i = 0; i < 100; ++i) {
        const at::Tensor mine =
            allocate(100 * kKi + (i * 37 + static_cast<uint64_t>(t)) % 8 * 300 * kKi);
        mine.fill_(t);
        ASSERT_TRUE((mine == t).all().item<bool>()) << "nobody else has it";
      }
    });
  }
  threads.clear();
  EXPECT_EQ(since().inUseBytes, 0U);
  EXPECT_LE(since().keptBytes, 3 * kMi);
  EXPECT_EQ(since().hits + since().misses, 2U + 4 * 100);
  EXPECT_EQ(since().reservedBytes, since().keptBytes);
}

/// Runs `body` in the child of a fork; its status.
template <typename Body>
int inChild(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(RecyclingPoolTest, ForkedWhileOtherThreadsAllocate) {
  const at::Tensor shared = allocate(4 * kMi).fill_(7);
  allocate(2 * kMi).fill_(5).reset();
  std::atomic<bool> done{false};
  std::jthread other([&] {
    while (!done) {
      allocate(kMi).reset();
    }
  });
  for (int i = 0; i < 30; ++i) {
    const int status = inChild([&] {
      // No ATen operation: its threads are not there in the child.
      at::Tensor mine = allocate(2 * kMi);
      std::memset(mine.data_ptr(), 1, 2 * kMi);
      const at::Tensor more = allocate(2 * kMi);
      std::memset(more.data_ptr(), 2, 2 * kMi);
      mine.reset();
      trimRecyclingPool();
      return static_cast<const uint8_t*>(shared.const_data_ptr())[4 * kMi - 1] == 7 ? 0 : 1;
    });
    ASSERT_EQ(status, 0);
  }
  done = true;
  other.join();
  EXPECT_TRUE((shared == 7).all().item<bool>());
}

TEST_F(RecyclingPoolTest, WithoutMemoryEverythingKeptIsGivenBack) {
  const int status = inChild([&] {
    allocate(100 * kMi).reset();
    allocate(50 * kMi).reset();
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t now = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const rlimit limit{.rlim_cur = now + 20 * kMi, .rlim_max = now + 20 * kMi};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) {
      return 1;
    }
    at::Tensor a = allocate(130 * kMi);
    std::memset(a.data_ptr(), 1, 130 * kMi);
    if (since().givenBackBlocks != 2 || since().keptBytes != 0) {
      return 2;
    }
    try {
      allocate(500 * kMi);
      return 3;
    } catch (const c10::Error& error) {
      return std::string(error.what()).find("you tried to allocate 524288000 bytes") !=
                     std::string::npos
                 ? 0
                 : 4;
    }
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace meshfuse
