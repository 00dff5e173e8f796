// Shardings: their normal form, shard orders, and what an axis does. E… are points of the value checklist, as far as
// this layer answers them.
#include "meshfuse/mesh/sharding.h"

#include <gtest/gtest.h>

#include "mesh/user_error.h"

namespace meshfuse {
namespace {

using P = Placement;
using Placements = std::vector<Placement>;
using Order = std::vector<ShardOrderEntry>;

Sharding onCpu(std::vector<int64_t> shape, Placements placements, const Order& order = {}) {
  return makeSharding(DeviceMesh::fromShape(std::move(shape)), MeshDevice::Cpu,
                      std::move(placements), order);
}

TEST(Sharding, E5_ShardedMeansAnAxisCarriesADimension) {
  Sharding allReduced = onCpu({2}, {P::replicate()});
  Sharding reduceScattered = onCpu({2}, {P::shard(0)});
  EXPECT_TRUE(allReduced.isReplicated());
  EXPECT_EQ(allReduced.axisShardedOn(ParallelType::DIDx), -1);
  EXPECT_FALSE(reduceScattered.isReplicated());
  EXPECT_EQ(reduceScattered.axisShardedOn(ParallelType::DIDx), 0);
}

TEST(Sharding, E5_APartialAxisIsNeitherShardedNorReplicated) {
  Sharding sharding = onCpu({2, 2}, {P::partial(), P::replicate()});
  EXPECT_EQ(sharding.axisShardedOn(ParallelType::DIDy), -1);
  EXPECT_FALSE(sharding.isReplicated());
  EXPECT_TRUE(sharding.hasPartial());
  EXPECT_FALSE(onCpu({2}, {P::shard(0)}).hasPartial());
}

TEST(Sharding, E6_TheDimensionAnAxisShards) {
  Sharding sharding = onCpu({2, 3, 2}, {P::shard(1), P::replicate(), P::stridedShard(3, 2)});
  EXPECT_EQ(sharding.axisShardedOn(ParallelType::DIDz), 1);
  EXPECT_EQ(sharding.axisShardedOn(ParallelType::DIDy), -1);
  EXPECT_EQ(sharding.axisShardedOn(ParallelType::DIDx), 3);
  EXPECT_EQ(onCpu({2}, {P::shard(1)}).axisShardedOn(ParallelType::DIDy), -1);
}

TEST(Sharding, E7_OneOrNoDimensionForEachAxis) {
  EXPECT_EQ(userError(ErrorKind::Value, [] { onCpu({2, 2}, {P::shard(0)}); }),
            "Sharding: a sharding has one placement for each mesh axis: got (S(0)) for the 2 axes "
            "of DeviceMesh{(0 1) (2 3)}; give Replicate for the axes that do not matter");
  EXPECT_EQ(userError(ErrorKind::Value, [] { onCpu({2}, {P::shard(0), P::shard(1)}); }),
            "Sharding: a sharding has one placement for each mesh axis: got (S(0), S(1)) for the 1 "
            "axes of DeviceMesh{0 1}; give Replicate for the axes that do not matter");
  EXPECT_THROW(onCpu({2}, {}), UserError);
}

TEST(Sharding, E7_AnEmptyMeshIsRefused) {
  EXPECT_EQ(
      userError(ErrorKind::Value, [] { makeSharding(DeviceMesh(), MeshDevice::Cpu, {}); }),
      "Sharding: a sharding needs a mesh with ranks: got an empty mesh; make the mesh from a shape "
      "or from ranks");
}

TEST(Sharding, E7_MovesWithoutACopy) {
  Placements placements = {P::shard(0), P::replicate()};
  const Placement* before = placements.data();
  Sharding sharding =
      makeSharding(DeviceMesh::fromShape({2, 2}), MeshDevice::Cpu, std::move(placements));
  EXPECT_EQ(sharding.placements.data(), before);
  Sharding moved = std::move(sharding);
  EXPECT_EQ(moved.placements.data(), before);
}

TEST(Sharding, E8_APlainTensorHasNoSharding) {
  ShardingId none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.value(), 0U);
  EXPECT_TRUE(intern(onCpu({2}, {P::shard(0)})));
}

TEST(Sharding, NormalFormDropsWhatAPlacementDoesNotMean) {
  Placement replicate = P::shard(3);
  replicate.kind = PlacementKind::Replicate;
  Placement shard = P::stridedShard(1, 4);
  shard.kind = PlacementKind::Shard;
  Placement partial = P::partial(ReduceKind::Max);
  partial.dim = 2;
  EXPECT_EQ(onCpu({2, 2, 2}, {replicate, shard, partial}).placements,
            (Placements{P::replicate(), P::shard(1), P::partial(ReduceKind::Max)}));
}

TEST(Sharding, AStridedShardOfFactorOneIsAShard) {
  EXPECT_EQ(onCpu({2}, {P::stridedShard(1, 1)}), onCpu({2}, {P::shard(1)}));
}

TEST(Sharding, BadDimensionsAndFactorsAreRefused) {
  EXPECT_EQ(userError(ErrorKind::Value, [] { onCpu({2}, {P::shard(-1)}); }),
            "Sharding: a sharded dimension is counted from 0: got S(-1); add the tensor's rank to "
            "a negative dimension");
  EXPECT_EQ(userError(ErrorKind::Value, [] { onCpu({2}, {P::stridedShard(0, 0)}); }),
            "Sharding: a split factor is at least 1: got _S(0, 0); use Shard for a factor of 1");
  EXPECT_THROW(onCpu({2}, {P::stridedShard(-2, 2)}), UserError);
}

TEST(ShardOrder, MeshAxisOrderChangesNothing) {
  Placements placements = {P::shard(1), P::shard(0), P::shard(1)};
  EXPECT_EQ(onCpu({2, 3, 2}, placements, {{0, {1}}, {1, {0, 2}}}), onCpu({2, 3, 2}, placements));
  EXPECT_EQ(onCpu({2, 3, 2}, placements, {{1, {0, 2}}, {0, {1}}}), onCpu({2, 3, 2}, placements));
}

TEST(ShardOrder, AnAxisAfterAxesInsideItBecomesStrided) {
  EXPECT_EQ(onCpu({2, 2}, {P::shard(0), P::shard(0)}, {{0, {1, 0}}}).placements,
            (Placements{P::stridedShard(0, 2), P::shard(0)}));
  EXPECT_EQ(onCpu({4, 3, 2}, {P::shard(0), P::shard(0), P::shard(0)}, {{0, {2, 0, 1}}}).placements,
            (Placements{P::stridedShard(0, 2), P::stridedShard(0, 2), P::shard(0)}));
  EXPECT_EQ(onCpu({4, 3, 2}, {P::shard(0), P::shard(0), P::shard(0)}, {{0, {2, 1, 0}}}).placements,
            (Placements{P::stridedShard(0, 6), P::stridedShard(0, 2), P::shard(0)}));
  EXPECT_EQ(
      onCpu({4, 3, 2}, {P::shard(0), P::shard(1), P::shard(0)}, {{0, {2, 0}}, {1, {1}}}).placements,
      (Placements{P::stridedShard(0, 2), P::shard(1), P::shard(0)}));
}

TEST(ShardOrder, AnAxisOfOneRankMakesNoOneStrided) {
  EXPECT_EQ(onCpu({2, 1}, {P::shard(0), P::shard(0)}, {{0, {1, 0}}}),
            onCpu({2, 1}, {P::shard(0), P::shard(0)}));
}

TEST(ShardOrder, OrdersThatDoNotFitThePlacementsAreRefused) {
  Placements placements = {P::shard(0), P::shard(0)};
  const std::pair<Order, const char*> rows[] = {
      {{{0, {1}}}, "dim 0 by axes [1]"},              // axis 0 is left out
      {{{0, {1, 0, 1}}}, "dim 0 by axes [1, 0, 1]"},  // twice
      {{{0, {1, 2}}}, "dim 0 by axes [1, 2]"},        // no such axis
      {{{0, {-1, 0}}}, "dim 0 by axes [-1, 0]"},      // no such axis
      {{{1, {1, 0}}}, "dim 1 by axes [1, 0]"},        // another dimension
      {{{0, {1}}, {0, {0}}}, "dim 0 by axes [1], dim 0 by axes [0]"},
      {{{0, {1, 0}}, {1, {}}}, "dim 0 by axes [1, 0], dim 1 by axes []"},
  };
  for (const auto& [order, text] : rows) {
    EXPECT_EQ(userError(ErrorKind::Value, [&] { onCpu({2, 2}, placements, order); }),
              "Sharding: a shard order names each axis that shards a dimension once, under that "
              "dimension: got " +
                  std::string(text) +
                  " for placements (S(0), S(0)); leave the order out or list every sharding axis");
  }
  EXPECT_THROW(onCpu({2, 2}, {P::shard(0), P::partial()}, {{0, {1, 0}}}), UserError);
}

TEST(ShardOrder, StridedPlacementsHaveNoOrderOfTheirOwn) {
  Placements placements = {P::stridedShard(0, 2), P::shard(0)};
  EXPECT_EQ(userError(ErrorKind::Value, [&] { onCpu({2, 2}, placements, {{0, {1, 0}}}); }),
            "Sharding: strided placements already say in which order axes shard: got shard order "
            "dim 0 by axes [1, 0] for placements (_S(0, 2), S(0)); give Shard placements with the "
            "order, or strided placements alone");
  EXPECT_EQ(onCpu({2, 2}, placements, {{0, {0, 1}}}).placements, placements);
}

TEST(Sharding, Prints) {
  EXPECT_EQ(onCpu({2, 2}, {P::shard(0), P::partial()}).toText(),
            "DeviceMesh{(0 1) (2 3)} cpu (S(0), P(sum))");
  Sharding cuda = makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cuda, {P::stridedShard(1, 2)});
  EXPECT_EQ(cuda.toText(), "DeviceMesh{0 1} cuda (_S(1, 2))");
}

TEST(Sharding, DeviceTypesAreFoundByTheirName) {
  for (MeshDevice device : {MeshDevice::Cpu, MeshDevice::Cuda, MeshDevice::Meta}) {
    EXPECT_EQ(meshDeviceFromName(nameOf(device)), device);
  }
  EXPECT_EQ(meshDeviceFromName("xla"), std::nullopt);
}

}  // namespace
}  // namespace meshfuse
