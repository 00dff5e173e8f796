// Sharding over all ranks of a simulated mesh and back, and its collectives, against tensors cut by hand.
#include "meshfuse/evaluator/simulated_mesh.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

Sharding on(std::vector<int64_t> mesh, std::vector<Placement> placements) {
  return makeSharding(DeviceMesh::fromShape(std::move(mesh)), MeshDevice::Cpu,
                      std::move(placements));
}

TEST(SimulatedMesh, ShardsByChunks) {
  const at::Tensor x = at::arange(10).view({5, 2});
  const LocalTensors locals = shardOverRanks(x, on({2}, {Placement::shard(0)}));
  ASSERT_EQ(locals.size(), 2U);
  EXPECT_TRUE(at::equal(locals[0], x.narrow(0, 0, 3)));
  EXPECT_TRUE(at::equal(locals[1], x.narrow(0, 3, 2)));
}

TEST(SimulatedMesh, PartialTermsCombineAndNoneOfThemIsTheWhole) {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3});
  const LocalTensors sum = shardOverRanks(x, on({3}, {Placement::partial(ReduceKind::Sum)}));
  EXPECT_TRUE(at::allclose(sum[0] + sum[1] + sum[2], x));
  const LocalTensors avg = shardOverRanks(x, on({3}, {Placement::partial(ReduceKind::Avg)}));
  EXPECT_TRUE(at::allclose((avg[0] + avg[1] + avg[2]) / 3, x));
  const LocalTensors product =
      shardOverRanks(x, on({2}, {Placement::partial(ReduceKind::Product)}));
  EXPECT_TRUE(at::allclose(product[0] * product[1], x));
  for (const LocalTensors& terms : {sum, avg, product}) {
    EXPECT_FALSE(at::equal(terms[0], x));
  }
}

TEST(SimulatedMesh, GathersWhatItSharded) {
  const at::Tensor x = at::arange(24, at::kFloat).view({6, 4});
  const std::vector<std::vector<Placement>> lists = {
      {Placement::shard(0), Placement::shard(0)},
      {Placement::shard(1), Placement::partial()},
      {Placement::partial(), Placement::partial()},
      {Placement::stridedShard(0, 2), Placement::shard(0)},
      {Placement::replicate(), Placement::partial(ReduceKind::Max)},
  };
  for (const auto& list : lists) {
    const Sharding sharding = on({2, 2}, list);
    EXPECT_TRUE(at::equal(gatherFromRanks(shardOverRanks(x, sharding), sharding, x.sizes()), x))
        << sharding.toText();
  }
  const at::Tensor scalar = at::scalar_tensor(3.0, at::kFloat);
  const Sharding partial = on({2}, {Placement::partial()});
  EXPECT_TRUE(at::equal(gatherFromRanks(shardOverRanks(scalar, partial), partial, {}), scalar));
}

TEST(SimulatedMesh, GathersFloatsOf8Bits) {
  for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2, at::kFloat8_e8m0fnu}) {
    const at::Tensor bits = at::arange(256, at::kInt).to(at::kByte).view({16, 16});
    const at::Tensor x = bits.view(type);
    for (const Placement& placement : {Placement::shard(1), Placement::replicate()}) {
      const Sharding sharding = on({2}, {placement});
      LocalTensors locals = shardOverRanks(x, sharding);
      EXPECT_TRUE(at::equal(gatherFromRanks(locals, sharding, x.sizes()).view(at::kByte), bits));
      locals[0] = locals[0].view(at::kByte).bitwise_not().view(type);
      if (placement.isSharded()) {
        EXPECT_FALSE(at::equal(gatherFromRanks(locals, sharding, x.sizes()).view(at::kByte), bits));
      } else {
        EXPECT_THROW(gatherFromRanks(locals, sharding, x.sizes()), UserError);
      }
    }
  }
}

TEST(SimulatedMesh, GatherNoticesReplicasThatDisagree) {
  const LocalTensors locals{at::zeros({2}), at::ones({2})};
  const std::vector<int64_t> sizes{2};
  EXPECT_THROW(gatherFromRanks(locals, on({2}, {Placement::replicate()}), sizes), UserError);
}

TEST(SimulatedMesh, CollectivesRunAlongOneAxis) {
  const DeviceMesh mesh = DeviceMesh::fromShape({2, 2});
  const Collectives collectives = simulatedCollectives(mesh);
  LocalTensors locals;
  for (int64_t rank = 0; rank < 4; ++rank) {
    locals.push_back(at::full({2}, static_cast<double>(rank)));
  }
  CollectiveSpec spec{&mesh, 0, 0, ReduceKind::Sum};
  const LocalTensors sums = collectives.allReduce(spec, locals);
  EXPECT_TRUE(at::equal(sums[0], at::full({2}, 2.0)) && at::equal(sums[1], at::full({2}, 4.0)));
  EXPECT_TRUE(at::equal(sums[2], sums[0]) && at::equal(sums[3], sums[1]));
  spec.meshAxis = 1;
  EXPECT_TRUE(
      at::equal(collectives.allGather(spec, locals)[3], at::tensor({2.0F, 2.0F, 3.0F, 3.0F})));
  const LocalTensors scattered = collectives.reduceScatter(spec, locals);
  EXPECT_TRUE(at::equal(scattered[0], at::full({1}, 1.0)) &&
              at::equal(scattered[2], at::full({1}, 5.0)));
}

}  // namespace
}  // namespace meshfuse
