// Dimensions sorted as they lie in memory.
#include "meshfuse/base/memory_order.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

using Dims = std::vector<int64_t>;

TEST(MemoryOrder, LargerStridesComeFirst) {
  EXPECT_EQ(outermostFirst(Dims{12, 4, 1}), (Dims{0, 1, 2}));
  EXPECT_EQ(outermostFirst(Dims{1, 4, 12}), (Dims{2, 1, 0}));
  EXPECT_EQ(outermostFirst(Dims{4, 12, 1, 60}), (Dims{3, 1, 0, 2}));
  EXPECT_EQ(outermostFirst(Dims{}), Dims{});
}

TEST(MemoryOrder, EqualStridesKeepTheOrderOfTheDimensions) {
  EXPECT_EQ(outermostFirst(Dims{0, 3, 0, 3, 1}), (Dims{1, 3, 4, 0, 2}));
  std::mt19937 engine(1);
  for (int round = 0; round < 100; ++round) {
    Dims strides(40);
    std::ranges::generate(strides, [&] { return static_cast<int64_t>(engine() % 4); });
    Dims expected(strides.size());
    std::iota(expected.begin(), expected.end(), int64_t{0});
    std::ranges::stable_sort(expected, [&](int64_t a, int64_t b) {
      return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
    });
    EXPECT_EQ(outermostFirst(strides), expected);
  }
}

TEST(MemoryOrder, SortsAPartOfTheDimensions) {
  Dims dims{3, 0, 2};
  sortOutermostFirst(dims, Dims{1, 100, 5, 5});
  EXPECT_EQ(dims, (Dims{2, 3, 0}));
}

}  // namespace
}  // namespace meshfuse
