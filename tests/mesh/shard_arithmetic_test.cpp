// Shard arithmetic, by brute force: an arange is cut by an independent and plain reading of torch's rule, and what each
// rank holds is compared. (tests/python/test_shard_arithmetic.py does the same with torch's own classes.)
#include "meshfuse/mesh/shard_arithmetic.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "mesh/user_error.h"

namespace meshfuse {
namespace {

using P = Placement;
using Ints = std::vector<int64_t>;
using Placements = std::vector<Placement>;

// ---- the independent reading: lists of indices, cut piece by piece ----

std::vector<Ints> chunks(const Ints& values, int64_t count) {
  int64_t size = static_cast<int64_t>(values.size());
  int64_t length = (size + count - 1) / count;
  std::vector<Ints> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < size; ++i) {
    out[static_cast<size_t>(i / length)].push_back(values[static_cast<size_t>(i)]);
  }
  return out;
}

std::vector<Ints> shardsOf(const Ints& values, const Placement& placement, int64_t count) {
  std::vector<Ints> out(static_cast<size_t>(count));
  for (const Ints& piece : chunks(values, placement.splitFactor)) {
    std::vector<Ints> parts = chunks(piece, count);
    for (size_t i = 0; i < parts.size(); ++i) {
      out[i].insert(out[i].end(), parts[i].begin(), parts[i].end());
    }
  }
  return out;
}

Ints heldByBruteForce(const Sharding& sharding, int64_t dim, int64_t size, const Ints& coordinate) {
  Ints held(static_cast<size_t>(size));
  std::iota(held.begin(), held.end(), int64_t{0});
  for (size_t axis = 0; axis < coordinate.size(); ++axis) {
    const Placement& placement = sharding.placements[axis];
    if (placement.isSharded() && placement.dim == dim) {
      held = shardsOf(held, placement,
                      sharding.mesh.shape()[axis])[static_cast<size_t>(coordinate[axis])];
    }
  }
  return held;
}

// ---- all cases ----

Sharding onCpu(Ints shape, Placements placements) {
  return makeSharding(DeviceMesh::fromShape(std::move(shape)), MeshDevice::Cpu,
                      std::move(placements));
}

/// Every list of placements of a 2-d tensor on a mesh of `ndim` axes.
std::vector<Placements> placementLists(int64_t ndim) {
  const Placements choices = {P::replicate(),        P::shard(0),           P::shard(1),
                              P::partial(),          P::stridedShard(0, 2), P::stridedShard(0, 3),
                              P::stridedShard(1, 2), P::stridedShard(0, 4)};
  std::vector<Placements> lists = {{}};
  for (int64_t axis = 0; axis < ndim; ++axis) {
    std::vector<Placements> longer;
    for (const Placements& list : lists) {
      for (const Placement& choice : choices) {
        longer.push_back(list);
        longer.back().push_back(choice);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

void forEachSharding(const std::function<void(const Sharding&)>& visit) {
  for (const Ints& shape : {Ints{1}, Ints{2}, Ints{3}, Ints{8}, Ints{2, 2}, Ints{2, 3}, Ints{3, 2},
                            Ints{1, 2}, Ints{2, 2, 2}}) {
    for (Placements& list : placementLists(static_cast<int64_t>(shape.size()))) {
      visit(onCpu(shape, std::move(list)));
    }
  }
}

Ints indicesOf(const std::vector<IndexRange>& runs) {
  Ints indices;
  for (const IndexRange& run : runs) {
    for (int64_t i = run.begin; i < run.end; ++i) {
      indices.push_back(i);
    }
  }
  return indices;
}

bool areMaximal(const std::vector<IndexRange>& runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].size() <= 0 || (i > 0 && runs[i - 1].end == runs[i].begin)) {
      return false;
    }
  }
  return true;
}

TEST(ChunkRange, CeilSizedThenShortThenEmpty) {
  const std::vector<IndexRange> five = {{0, 2}, {2, 4}, {4, 5}, {5, 5}};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(chunkRange(5, 4, i), five[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(chunkRange(0, 3, 2), (IndexRange{0, 0}));
  EXPECT_EQ(chunkRange(3, 1, 0), (IndexRange{0, 3}));
}

TEST(ShardArithmetic, EveryRankHoldsWhatCuttingAnArangeGivesIt) {
  int64_t compared = 0;
  forEachSharding([&compared](const Sharding& sharding) {
    for (int64_t size = 0; size <= 17; ++size) {
      for (int64_t i = 0; i < sharding.mesh.size(); ++i) {
        Ints coordinate = sharding.mesh.coordinateAtLinear(i);
        const Ints sizes = {size, 17 - size};
        Ints expectedSizes;
        Ints expectedOffsets;
        for (int64_t dim = 0; dim < 2; ++dim) {
          int64_t global = sizes[static_cast<size_t>(dim)];
          Ints held = heldByBruteForce(sharding, dim, global, coordinate);
          std::vector<IndexRange> runs = localRuns(sharding, dim, global, coordinate);
          ASSERT_EQ(indicesOf(runs), held) << sharding.toText() << " size " << global;
          ASSERT_TRUE(areMaximal(runs)) << sharding.toText() << " size " << global;
          expectedSizes.push_back(static_cast<int64_t>(held.size()));
          expectedOffsets.push_back(held.empty() ? global : held.front());
          ++compared;
        }
        ASSERT_EQ(localSizes(sharding, sizes, coordinate), expectedSizes) << sharding.toText();
        ASSERT_EQ(localOffsets(sharding, sizes, coordinate), expectedOffsets) << sharding.toText();
      }
    }
  });
  EXPECT_GT(compared, 100000);
}

TEST(ShardArithmetic, EveryIndexIsHeldOnceByEachGroupOfShards) {
  forEachSharding([](const Sharding& sharding) {
    int64_t copies = sharding.mesh.size() / shardCount(sharding, 0);
    for (int64_t size : {1, 5, 12, 17}) {
      Ints held(static_cast<size_t>(size), 0);
      for (int64_t i = 0; i < sharding.mesh.size(); ++i) {
        for (int64_t index :
             indicesOf(localRuns(sharding, 0, size, sharding.mesh.coordinateAtLinear(i)))) {
          ++held[static_cast<size_t>(index)];
        }
      }
      ASSERT_EQ(held, Ints(static_cast<size_t>(size), copies)) << sharding.toText();
    }
  });
}

TEST(ShardArithmetic, EvenMeansEqualShapesOnAllRanks) {
  forEachSharding([](const Sharding& sharding) {
    for (int64_t size = 0; size <= 25; ++size) {
      const Ints sizes = {size, 2 * size};
      Ints first = localSizes(sharding, sizes, sharding.mesh.coordinateAtLinear(0));
      bool equal = true;
      for (int64_t i = 1; i < sharding.mesh.size(); ++i) {
        equal = equal && localSizes(sharding, sizes, sharding.mesh.coordinateAtLinear(i)) == first;
      }
      ASSERT_EQ(isEven(sharding, sizes), equal) << sharding.toText() << " size " << size;
      if (equal) {
        ASSERT_EQ(globalSizesOfEven(sharding, first), sizes) << sharding.toText();
      }
    }
  });
}

TEST(ShardArithmetic, E9_PartsFollowTheLinearIndexAndAreContiguous) {
  Sharding sharding = onCpu({2, 3}, {P::shard(0), P::shard(0)});
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(localRuns(sharding, 0, 12, sharding.mesh.coordinateAtLinear(i)),
              (std::vector<IndexRange>{{2 * i, 2 * i + 2}}));
  }
}

TEST(ShardArithmetic, E9_DividesEvenlyOrIsKnownNotTo) {
  Sharding sharding = onCpu({3}, {P::shard(1)});
  EXPECT_TRUE(isEven(sharding, Ints{5, 6}));
  EXPECT_FALSE(isEven(sharding, Ints{6, 5}));
  EXPECT_EQ(localSizes(sharding, Ints{6, 4}, Ints{2}), (Ints{6, 0}));
}

TEST(ShardArithmetic, E9_ARankOutsideTheMeshHasNoPart) {
  DeviceMesh mesh = DeviceMesh::fromRanks({4, 5});
  EXPECT_EQ(mesh.coordinateOf(0), std::nullopt);
  EXPECT_THROW(localRuns(makeSharding(mesh, MeshDevice::Cpu, {P::shard(0)}), 0, 4, Ints{}),
               InternalError);
}

TEST(ShardArithmetic, ShardsOfSeveralAxesMultiply) {
  Sharding sharding = onCpu({2, 3, 2}, {P::shard(0), P::partial(), P::stridedShard(0, 2)});
  EXPECT_EQ(shardCount(sharding, 0), 4);
  EXPECT_EQ(shardCount(sharding, 1), 1);
}

TEST(ShardArithmetic, ADimensionTheTensorLacksIsRefused) {
  Sharding sharding = onCpu({2}, {P::shard(2)});
  std::string text =
      "Sharding: a sharded dimension must be one of the tensor's: got S(2) for a tensor of shape "
      "[4, 4]; shard one of its 2 dimensions or replicate it";
  Ints sizes = {4, 4};
  Ints zero = {0};
  EXPECT_EQ(userError(ErrorKind::Value, [&] { localSizes(sharding, sizes, zero); }), text);
  EXPECT_EQ(userError(ErrorKind::Value, [&] { localOffsets(sharding, sizes, zero); }), text);
  EXPECT_EQ(userError(ErrorKind::Value, [&] { isEven(sharding, sizes); }), text);
  EXPECT_EQ(userError(ErrorKind::Value, [&] { globalSizesOfEven(sharding, sizes); }), text);
  EXPECT_EQ(userError(ErrorKind::Value, [&] { checkLayoutIsCertain(sharding, sizes); }), text);
}

TEST(ShardArithmetic, AHugeSplitFactorEndsWithTheDimension) {
  Sharding sharding = onCpu({2}, {P::stridedShard(0, 2147483647)});
  EXPECT_EQ(localSizes(sharding, Ints{3}, Ints{0}), (Ints{3}));
  EXPECT_EQ(localSizes(sharding, Ints{3}, Ints{1}), (Ints{0}));
}

// ---- strides ----

TEST(LocalStrides, KeepTheOrderOfTheGlobalTensorInMemory) {
  EXPECT_EQ(localStrides(Ints{4, 6}, Ints{6, 1}, Ints{2, 6}), (Ints{6, 1}));
  EXPECT_EQ(localStrides(Ints{4, 6}, Ints{1, 4}, Ints{2, 6}), (Ints{1, 2}));
  EXPECT_EQ(localStrides(Ints{4, 8, 4}, Ints{32, 1, 8}, Ints{4, 8, 2}), (Ints{16, 1, 8}));
  EXPECT_EQ(localStrides(Ints{}, Ints{}, Ints{}), Ints{});
}

TEST(LocalStrides, EmptyAndSingleDimensions) {
  EXPECT_EQ(localStrides(Ints{3, 4}, Ints{4, 1}, Ints{0, 4}), (Ints{4, 1}));
  EXPECT_EQ(localStrides(Ints{3, 2}, Ints{2, 1}, Ints{3, 0}), (Ints{1, 1}));
  EXPECT_EQ(localStrides(Ints{4, 1}, Ints{1, 1}, Ints{2, 1}), (Ints{1, 1}));
}

TEST(LocalStrides, ExpandedDimensionsStayExpanded) {
  EXPECT_EQ(localStrides(Ints{4, 5, 6}, Ints{6, 0, 1}, Ints{2, 5, 6}), (Ints{6, 0, 1}));
}

// ---- strided shards and shard orders ----

Ints heldInOrder(const Sharding& sharding, const Ints& order, int64_t size,
                 const Ints& coordinate) {
  Ints held(static_cast<size_t>(size));
  std::iota(held.begin(), held.end(), int64_t{0});
  for (int64_t axis : order) {
    size_t at = static_cast<size_t>(axis);
    held = chunks(held, sharding.mesh.shape()[at])[static_cast<size_t>(coordinate[at])];
  }
  return held;
}

/// For one shard order: which sizes the strided placements split as the order itself does.
void checkOrder(const Ints& shape, const Ints& order, int64_t& refused) {
  std::vector<ShardOrderEntry> shardOrder = {{0, order}};
  Sharding sharding = makeSharding(DeviceMesh::fromShape(shape), MeshDevice::Cpu,
                                   Placements(shape.size(), P::shard(0)), shardOrder);
  for (int64_t size = 0; size <= 40; ++size) {
    bool same = true;
    for (int64_t i = 0; i < sharding.mesh.size(); ++i) {
      Ints coordinate = sharding.mesh.coordinateAtLinear(i);
      same = same && heldInOrder(sharding, order, size, coordinate) ==
                         indicesOf(localRuns(sharding, 0, size, coordinate));
    }
    if (same) {
      ASSERT_NO_THROW(checkLayoutIsCertain(sharding, Ints{size})) << sharding.toText() << size;
    } else {
      ASSERT_THROW(checkLayoutIsCertain(sharding, Ints{size}), UserError)
          << sharding.toText() << size;
      ASSERT_NE(size % sharding.mesh.size(), 0) << sharding.toText() << size;
      ++refused;
    }
  }
}

TEST(ShardOrderLayout, ReadingsThatDifferAreRefusedAndNoOthers) {
  int64_t refused = 0;
  for (const Ints& shape : {Ints{2, 2}, Ints{2, 3}, Ints{3, 2}, Ints{2, 1}, Ints{2, 2, 2},
                            Ints{2, 3, 2}, Ints{4, 3, 2}}) {
    Ints order(shape.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    do {
      checkOrder(shape, order, refused);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(refused, 0);
}

TEST(ShardOrderLayout, TheRefusalNamesShardingSizesAndTheWayOut) {
  std::vector<ShardOrderEntry> order = {{0, {1, 0}}};
  Sharding sharding = makeSharding(DeviceMesh::fromShape({3, 2}), MeshDevice::Cpu,
                                   {P::shard(0), P::shard(0)}, order);
  EXPECT_EQ(userError(ErrorKind::Value, [&] { checkLayoutIsCertain(sharding, Ints{13, 4}); }),
            "Sharding: a dimension in strided shards must divide evenly where torch has two "
            "readings of them: got DeviceMesh{(0 1) (2 3) (4 5)} cpu (_S(0, 2), S(0)) for a tensor "
            "of shape [13, 4]; pad dimension 0 to a multiple of 6 or shard it in mesh-axis order");
  EXPECT_NO_THROW(checkLayoutIsCertain(sharding, Ints{12, 4}));
}

TEST(ShardOrderLayout, StridesThatAreNoShardOrderHaveOneReading) {
  Sharding sharding = onCpu({2}, {P::stridedShard(0, 3)});
  for (int64_t size = 0; size <= 17; ++size) {
    EXPECT_NO_THROW(checkLayoutIsCertain(sharding, Ints{size}));
  }
}

}  // namespace
}  // namespace meshfuse
