// Mixing of hashes: spread, order and length count.
#include "meshfuse/base/hash.h"

#include <bit>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

uint64_t hashOf(std::vector<int64_t> values) { return hashInts(0, values); }

TEST(Hash, OrderAndLengthCount) {
  EXPECT_NE(hashOf({1, 2}), hashOf({2, 1}));
  EXPECT_NE(hashOf({}), hashOf({0}));
  EXPECT_NE(hashOf({0}), hashOf({0, 0}));
  EXPECT_EQ(hashOf({1, 2}), hashOf({1, 2}));
}

TEST(Hash, SmallIntegersSpreadOverAllBits) {
  std::set<uint64_t> seen;
  int64_t ones = 0;
  for (uint64_t i = 0; i < 4096; ++i) {
    uint64_t hash = hashMix(0, i);
    seen.insert(hash);
    ones += std::popcount(hash);
  }
  EXPECT_EQ(seen.size(), 4096U);
  EXPECT_NEAR(static_cast<double>(ones) / 4096, 32.0, 0.5);
}

TEST(Hash, PairsOfSmallIntegersDoNotCollide) {
  std::set<uint64_t> seen;
  for (int64_t a = 0; a < 128; ++a) {
    for (int64_t b = 0; b < 128; ++b) {
      seen.insert(hashOf({a, b}));
    }
  }
  EXPECT_EQ(seen.size(), 128U * 128U);
}

}  // namespace
}  // namespace meshfuse
