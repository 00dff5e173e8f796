// Recycled memory: reuse, bounds, other threads, and storages that behave as torch's.
#include "meshfuse/runtime/small_blocks.h"

#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/runtime/allocation.h"
#include "meshfuse/runtime/recycling_pool.h"

namespace meshfuse {
namespace {

at::Tensor allocate(int64_t elements) {
  return allocateCpu({{elements}, {1}, caffe2::TypeMeta::Make<float>(), elements * 4});
}

class SmallBlocks : public ::testing::Test {
 protected:
  void SetUp() override { releaseSmallBlocks(); }
};

TEST_F(SmallBlocks, AFreedBlockIsGivenOutAgain) {
  at::Tensor a = allocate(100);
  const void* address = a.const_data_ptr();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % c10::gAlignment, 0U);
  a.reset();
  EXPECT_EQ(allocate(128).const_data_ptr(), address) << "same size class";
  const at::Tensor held = allocate(100);
  EXPECT_NE(allocate(100).const_data_ptr(), held.const_data_ptr());
}

TEST_F(SmallBlocks, EverySizeIsWholeAndSeparate) {
  std::vector<at::Tensor> tensors;
  for (int64_t elements = 0; elements <= 20000; elements = elements * 5 / 4 + 1) {
    tensors.push_back(allocate(elements).fill_(static_cast<double>(elements)));
    EXPECT_EQ(tensors.back().storage().nbytes(), static_cast<size_t>(elements) * 4);
  }
  for (const at::Tensor& tensor : tensors) {
    EXPECT_TRUE((tensor == static_cast<double>(tensor.numel())).all().item<bool>());
  }
}

TEST_F(SmallBlocks, AThreadKeepsABoundedAmount) {
  for (size_t bytes = 64; bytes <= kLargestSmallBlock; bytes *= 2) {
    std::vector<at::Tensor> tensors;
    for (int i = 0; i < 100; ++i) {
      tensors.push_back(allocate(static_cast<int64_t>(bytes / 4)));
    }
  }
  const size_t kept = releaseSmallBlocks();
  EXPECT_GT(kept, 0U);
  EXPECT_LE(kept, size_t{1} << 20);
  EXPECT_EQ(releaseSmallBlocks(), 0U);
}

TEST_F(SmallBlocks, LargerBlocksAreThePools) {
  const uint64_t before = recyclingPoolStatistics().inUseBytes;
  const at::Tensor a = allocate(static_cast<int64_t>(kLargestSmallBlock / 4) + 1);
  EXPECT_EQ(recyclingPoolStatistics().inUseBytes - before, kLargestSmallBlock + 4);
  const at::Tensor b = allocate(static_cast<int64_t>(kLargestSmallBlock / 4));
  EXPECT_EQ(recyclingPoolStatistics().inUseBytes - before, kLargestSmallBlock + 4);
}

TEST_F(SmallBlocks, FreedOnAnotherThreadAndAfterItsOwnHasEnded) {
  at::Tensor fromThread;
  std::thread([&] { fromThread = allocate(50).fill_(3.0); }).join();
  EXPECT_TRUE((fromThread == 3.0).all().item<bool>());
  fromThread.reset();
  at::Tensor toThread = allocate(50);
  std::thread([tensor = std::move(toThread)]() mutable { tensor.reset(); }).join();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 1000; ++i) {
        const at::Tensor a = allocate(1 + (i * 37 + t) % 3000).fill_(1.0);
        ASSERT_EQ(a.sum().item<double>(), static_cast<double>(a.numel()));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(SmallBlocks, StoragesCanBeResized) {
  at::Tensor a = allocate(10).fill_(2.0);
  a.resize_({50000});
  EXPECT_TRUE((a.slice(0, 0, 10) == 2.0).all().item<bool>());
  a.fill_(1.0);
  a.resize_({0}).resize_({7}).fill_(4.0);
  EXPECT_EQ(a.sum().item<double>(), 28.0);
}

}  // namespace
}  // namespace meshfuse
