// The table of shardings: one id for equal content, for ever, from any thread, read without a lock.
#include "meshfuse/mesh/sharding_table.h"

#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/mesh/sharding.h"

namespace meshfuse {
namespace {

using P = Placement;

Sharding shardedLine(int64_t firstRank, int64_t dim) {
  return makeSharding(DeviceMesh::fromRanks({firstRank, firstRank + 1}), MeshDevice::Cpu,
                      {P::shard(dim)});
}

TEST(ShardingTable, EqualContentHasOneId) {
  Sharding a =
      makeSharding(DeviceMesh::fromShape({2, 2}), MeshDevice::Cpu, {P::shard(0), P::partial()});
  Sharding b = makeSharding(DeviceMesh::fromRanks({0, 1, 2, 3}, {2, 2}), MeshDevice::Cpu,
                            {P::stridedShard(0, 1), P::partial()});
  EXPECT_EQ(intern(a), intern(b));
  EXPECT_EQ(*intern(a), a);
  EXPECT_EQ(intern(a)->placements[1], P::partial());
  EXPECT_EQ(&*intern(a), &*intern(b));
}

TEST(ShardingTable, DifferentContentHasDifferentIds) {
  DeviceMesh mesh = DeviceMesh::fromShape({2, 2});
  std::vector<ShardOrderEntry> order = {{0, {1, 0}}};
  std::vector<Sharding> shardings = {
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::shard(0)}),
      makeSharding(mesh, MeshDevice::Cuda, {P::shard(0), P::shard(0)}),
      makeSharding(mesh, MeshDevice::Meta, {P::shard(0), P::shard(0)}),
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::shard(0)}, order),
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::shard(1)}),
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::partial()}),
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::partial(ReduceKind::Avg)}),
      makeSharding(mesh, MeshDevice::Cpu, {P::shard(0), P::replicate()}),
      makeSharding(DeviceMesh::fromRanks({0, 2, 1, 3}, {2, 2}), MeshDevice::Cpu,
                   {P::shard(0), P::shard(0)}),
      makeSharding(DeviceMesh::fromShape({4, 1}), MeshDevice::Cpu, {P::shard(0), P::shard(0)}),
      makeSharding(DeviceMesh::fromCount(4), MeshDevice::Cpu, {P::shard(0)}),
  };
  std::map<uint32_t, size_t> seen;
  for (size_t i = 0; i < shardings.size(); ++i) {
    ShardingId id = intern(shardings[i]);
    EXPECT_TRUE(seen.emplace(id.value(), i).second)
        << shardings[i].toText() << " has the id of " << shardings[seen[id.value()]].toText();
    EXPECT_EQ(*id, shardings[i]);
  }
}

TEST(ShardingTable, RebuildingEqualMeshesDoesNotGrowIt) {
  intern(makeSharding(DeviceMesh::fromShape({2, 4}), MeshDevice::Cpu, {P::shard(0), P::shard(1)}));
  intern(makeSharding(DeviceMesh::fromRanks({9, 4, 6}), MeshDevice::Cpu, {P::partial()}));
  size_t before = internedShardingCount();
  for (int i = 0; i < 500000; ++i) {
    intern(
        makeSharding(DeviceMesh::fromShape({2, 4}), MeshDevice::Cpu, {P::shard(0), P::shard(1)}));
    intern(makeSharding(DeviceMesh::fromRanks({9, 4, 6}), MeshDevice::Cpu, {P::partial()}));
  }
  EXPECT_EQ(internedShardingCount(), before);
}

TEST(ShardingTable, EntriesStayWhereTheyAre) {
  ShardingId first = intern(shardedLine(100, 0));
  const Sharding* address = &*first;
  std::vector<ShardingId> ids;
  for (int64_t i = 0; i < 5000; ++i) {
    ids.push_back(intern(shardedLine(200 + i, i % 3)));
  }
  EXPECT_EQ(&*first, address);
  for (int64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(*ids[static_cast<size_t>(i)], shardedLine(200 + i, i % 3));
  }
}

TEST(ShardingTable, ThePlaceOfAnIdFollowsFromItsLeadingBit) {
  uint64_t expectedSlot = 0;
  size_t expectedChunk = 0;
  for (uint32_t id = 0; id < 100000; ++id) {
    sharding_table::Position at = sharding_table::positionOf(id);
    ASSERT_EQ(at.chunk, expectedChunk) << id;
    ASSERT_EQ(at.slot, expectedSlot) << id;
    if (++expectedSlot == uint64_t{64} << expectedChunk) {
      expectedSlot = 0;
      ++expectedChunk;
    }
  }
  EXPECT_EQ(sharding_table::positionOf(0xffffffffU).chunk, sharding_table::kChunkCount - 1);
}

TEST(ShardingTable, AnIdThatWasNeverGivenOutIsAnInternalError) {
  EXPECT_THROW(*ShardingId(), InternalError);
  EXPECT_THROW(ShardingId()->isReplicated(), InternalError);
  EXPECT_THROW(*ShardingId::fromValue(0xffffffffU), InternalError);
  auto unused = static_cast<uint32_t>(internedShardingCount()) + 1;
  EXPECT_THROW(*ShardingId::fromValue(unused), InternalError);
}

TEST(ShardingTable, WhatIsNoShardingIsNotInterned) {
  size_t before = internedShardingCount();
  EXPECT_THROW(intern(Sharding()), InternalError);
  EXPECT_THROW(intern(Sharding{DeviceMesh::fromCount(2), MeshDevice::Cpu, {}}), InternalError);
  EXPECT_EQ(internedShardingCount(), before);
}

TEST(ShardingTable, HashOfAnIdIsItsValue) {
  EXPECT_EQ(std::hash<ShardingId>()(ShardingId::fromValue(7)), 7U);
}

TEST(ShardingTable, EightThreadsInternAndReadTheSameIds) {
  constexpr int kThreads = 8;
  constexpr int64_t kShardings = 1500;
  // Ids travel without synchronisation of their own, as they may in a program.
  std::vector<std::atomic<uint32_t>> published(kShardings);
  std::vector<std::vector<ShardingId>> ids(kThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < kShardings; ++i) {
        int64_t mine = (i * 7 + thread * 190) % kShardings;  // 7 and 1500 have no common factor
        ShardingId id = intern(shardedLine(100000 + mine, mine % 4));
        published[static_cast<size_t>(mine)].store(id.value(), std::memory_order_relaxed);
        int64_t other = (i * 11 + thread) % kShardings;
        uint32_t seen = published[static_cast<size_t>(other)].load(std::memory_order_relaxed);
        if (seen != 0 && *ShardingId::fromValue(seen) != shardedLine(100000 + other, other % 4)) {
          ++wrong;
        }
      }
      for (int64_t i = 0; i < kShardings; ++i) {
        ids[static_cast<size_t>(thread)].push_back(intern(shardedLine(100000 + i, i % 4)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong.load(), 0);
  for (const std::vector<ShardingId>& perThread : ids) {
    EXPECT_EQ(perThread, ids[0]);
  }
}

}  // namespace
}  // namespace meshfuse
