// Sizes and strides in, schedules as text out.
#include "meshfuse/scheduling/schedule.h"

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

const CostModel kCosts{.level2Bytes = 1 << 20, .lastLevelBytes = 1 << 24, .threads = 2};

NestAccess reads(std::vector<int64_t> strides) { return {4, false, std::move(strides)}; }
NestAccess writes(std::vector<int64_t> strides) { return {4, true, std::move(strides)}; }

TEST(Schedule, ContiguousLoopsRunAsOne) {
  const Nest nest{{64, 512}, {0, 0}, {reads({512, 1}), writes({512, 1})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "lane l0*l1");
}

TEST(Schedule, ABroadcastRowKeepsLoopsApart) {
  const Nest nest{{64, 512}, {0, 0}, {reads({512, 1}), reads({0, 1}), writes({512, 1})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "parallel l0 lane l1");
}

TEST(Schedule, LoopsFollowTheMemoryThatIsWritten) {
  const Nest nest{{512, 64}, {0, 0}, {reads({1, 512}), writes({1, 512})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "lane l1*l0");
}

TEST(Schedule, ARowSumHasAReducedLane) {
  const Nest nest{{64, 512}, {0, 1}, {reads({512, 1}), writes({1, 0})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "parallel l0 lane l1 reduced");
}

TEST(Schedule, AColumnSumRunsRowsAroundTheLane) {
  const Nest nest{{64, 512}, {1, 0}, {reads({512, 1}), writes({0, 1})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "serial l0 lane l1");
}

TEST(Schedule, AShortNormalizedRowIsKept) {
  Nest nest{{64, 512}, {0, 1}, {reads({512, 1}), writes({512, 1})}, 20, 4};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "parallel l0 lane l1 reduced keeps rows");
  nest.extents[1] = kRowElements + 1;
  for (NestAccess& access : nest.accesses) {
    access.strides[0] = kRowElements + 1;
  }
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "parallel l0 lane l1 reduced");
}

TEST(Schedule, NoElementsAreNoIterations) {
  const Nest nest{{0, 512}, {0, 0}, {reads({512, 1}), reads({0, 1}), writes({512, 1})}, 1, 0};
  EXPECT_EQ(chooseSchedule(nest, kCosts).iterations, 0);
}

TEST(Schedule, ASumOfNoElementsIsWritten) {
  const Nest nest{{64, 0}, {0, 1}, {reads({0, 1}), writes({1, 0})}, 1, 0};
  EXPECT_GT(chooseSchedule(nest, kCosts).iterations, 0);
}

TEST(Schedule, BlocksCoverTheLane) {
  const Nest nest{{100'001}, {0}, {reads({1}), writes({1})}, 50, 0};
  const Schedule schedule = chooseSchedule(nest, kCosts);
  EXPECT_GT(schedule.laneBlocks, 1);
  EXPECT_GE(schedule.laneBlocks * schedule.laneBlock, 100'001);
  EXPECT_LT((schedule.laneBlocks - 1) * schedule.laneBlock, 100'001);
  EXPECT_EQ(schedule.iterations, schedule.laneBlocks);
}

TEST(Schedule, OnlyResultsThatTheLastLevelCannotHoldPassTheCaches) {
  const auto streams = [](int64_t elements) {
    const Nest nest{{elements}, {0}, {reads({1}), writes({1})}, 1, 0};
    return chooseSchedule(nest, kCosts).streams;
  };
  EXPECT_FALSE(streams(1 << 16));
  EXPECT_TRUE(streams(1 << 24));
}

// Rows that are read again, where they come from beyond the level-2 caches; rows that are summed, from beyond the last level.
TEST(Schedule, OnlyReducedRowsAreAskedForAhead) {
  const auto prefetches = [](uint8_t isReduced, int64_t rows, int64_t rowBytes) {
    const Nest nest{{rows, 1024},
                    {0, isReduced},
                    {reads({1024, 1}), isReduced != 0 ? writes({1, 0}) : writes({1024, 1})},
                    1,
                    rowBytes};
    return chooseSchedule(nest, kCosts).prefetches;
  };
  EXPECT_FALSE(prefetches(0, 1 << 16, 0));
  EXPECT_FALSE(prefetches(1, 1 << 10, 0));
  EXPECT_TRUE(prefetches(1, 1 << 12, 0));
  EXPECT_FALSE(prefetches(1, 1 << 8, 4));
  EXPECT_TRUE(prefetches(1, 1 << 10, 4));
}

TEST(Schedule, WhatIsReadAlongAnotherLoopIsReadInTiles) {
  const Nest nest{{512, 768}, {0, 0}, {reads({1, 512}), reads({768, 1}), writes({768, 1})}, 1, 0};
  const Schedule schedule = chooseSchedule(nest, kCosts);
  EXPECT_EQ(toText(schedule), "parallel l0 lane l1 in tiles");
  EXPECT_TRUE(schedule.turns(0, false));
  EXPECT_FALSE(schedule.turns(1, false));
  EXPECT_FALSE(schedule.turns(2, true));
}

TEST(Schedule, TilesCoverBothLoopsAndFitTheirBuffer) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const Nest nest{{3, 1000, 777},
                    {0, 0, 0},
                    {{bytes, false, {777'000, 1, 1000}}, {bytes, true, {777'000, 777, 1}}},
                    1,
                    0};
    const Schedule schedule = chooseSchedule(nest, kCosts);
    ASSERT_TRUE(schedule.isTiled);
    EXPECT_EQ(schedule.parallel.back().extent, 1000);
    EXPECT_LE(schedule.tileRows * schedule.laneBlock * bytes, kTileBytes);
    const int64_t tiles = (1000 + schedule.tileRows - 1) / schedule.tileRows;
    EXPECT_EQ(schedule.iterations, 3 * tiles * schedule.laneBlocks);
    EXPECT_GE(schedule.laneBlocks * schedule.laneBlock, 777);
  }
}

TEST(Schedule, FewRowsOrColumnsMakeNoTile) {
  const Nest nest{{3, 512}, {0, 0}, {reads({1, 3}), writes({512, 1})}, 1, 0};
  EXPECT_EQ(toText(chooseSchedule(nest, kCosts)), "parallel l0 lane l1");
}

}  // namespace
}  // namespace meshfuse
