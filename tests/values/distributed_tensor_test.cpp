// Distributed tensors: global sizes and strides from even and uneven parts, one interface for both.
#include "meshfuse/values/distributed_tensor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/polymorphic_value.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

using Ints = std::vector<int64_t>;

ShardingId shardingOf(DeviceMesh mesh, std::vector<Placement> placements) {
  return intern(makeSharding(std::move(mesh), MeshDevice::Cpu, std::move(placements)));
}

Ints toInts(const c10::DimVector& values) { return {values.begin(), values.end()}; }

TEST(Values, SixteenBytes) {
  static_assert(sizeof(DistributedTensor) == 16);
  static_assert(std::is_nothrow_move_constructible_v<DistributedTensor>);
  static_assert(std::is_nothrow_copy_constructible_v<DistributedTensor>);
}

TEST(Values, EvenPartDerivesTheGlobalTensor) {
  const at::Tensor local = at::ones({2, 3});
  const DistributedTensor tensor(local, rowsOver(2));
  EXPECT_FALSE(tensor.isBoxed());
  EXPECT_TRUE(tensor.local().is_same(local));
  EXPECT_EQ(tensor.sharding(), rowsOver(2));
  EXPECT_EQ(tensor.mesh(), DeviceMesh::fromCount(2));
  ASSERT_EQ(tensor.placements().size(), 1U);
  EXPECT_EQ(tensor.placements()[0], Placement::shard(0));
  EXPECT_EQ(toInts(tensor.sizes()), (Ints{4, 3}));
  EXPECT_EQ(toInts(tensor.strides()), (Ints{3, 1}));
  EXPECT_EQ(tensor.size(0), 4);
  EXPECT_EQ(tensor.size(-1), 3);
  EXPECT_EQ(tensor.dim(), 2);
  EXPECT_EQ(tensor.scalarType(), at::kFloat);
  EXPECT_EQ(tensor.device(), c10::Device(c10::kCPU));
}

TEST(Values, AxisShardedOn) {
  const ShardingId id =
      shardingOf(DeviceMesh::fromShape({2, 3}), {Placement::replicate(), Placement::shard(1)});
  const DistributedTensor tensor(at::ones({2, 4}), id);
  EXPECT_EQ(tensor.axisShardedOn(ParallelType::DIDx), 1);
  EXPECT_EQ(tensor.axisShardedOn(ParallelType::DIDy), -1);
  EXPECT_EQ(tensor.axisShardedOn(ParallelType::DIDz), -1);
  EXPECT_EQ(toInts(tensor.sizes()), (Ints{2, 12}));
  EXPECT_EQ(toInts(tensor.strides()), (Ints{12, 1}));
}

TEST(Values, UnevenPartKeepsTheGlobalTensor) {
  const DistributedTensor tensor = unevenTensor();
  EXPECT_TRUE(tensor.isBoxed());
  EXPECT_EQ(toInts(tensor.sizes()), (Ints{5, 3}));
  EXPECT_EQ(toInts(tensor.strides()), (Ints{3, 1}));
  EXPECT_EQ(tensor.local().sizes(), (c10::IntArrayRef{2, 3}));
  EXPECT_EQ(tensor.axisShardedOn(ParallelType::DIDx), 0);
}

TEST(Values, EvennessComesFromTheGlobalSizes) {
  // A part of three rows on two ranks belongs to five rows or to six.
  const at::Tensor local = at::ones({3});
  const DistributedTensor five(local, rowsOver(2), Ints{5}, Ints{1});
  const DistributedTensor six(local, rowsOver(2), Ints{6}, Ints{1});
  EXPECT_TRUE(five.isBoxed());
  EXPECT_FALSE(six.isBoxed());
  EXPECT_EQ(five.size(0), 5);
  EXPECT_EQ(six.size(0), 6);
}

TEST(Values, EmptyPartsAndOddStridesAreKept) {
  const DistributedTensor empty(at::ones({0, 3}), rowsOver(4), Ints{3, 3}, Ints{3, 1});
  EXPECT_TRUE(empty.isBoxed());
  EXPECT_EQ(toInts(empty.sizes()), (Ints{3, 3}));
  const DistributedTensor odd(at::ones({2, 3}), rowsOver(2), Ints{4, 3}, Ints{8, 1});
  EXPECT_TRUE(odd.isBoxed());
  EXPECT_EQ(toInts(odd.strides()), (Ints{8, 1}));
  const DistributedTensor nothing(at::ones({0, 3}), rowsOver(4), Ints{0, 3}, Ints{3, 1});
  EXPECT_EQ(toInts(nothing.sizes()), (Ints{0, 3}));
}

TEST(Values, EveryPlacementGivesBackTheGlobalTensor) {
  // Each rank's part, by shard arithmetic, of every size under every pair of placements on a (2, 3) mesh.
  const DeviceMesh mesh = DeviceMesh::fromShape({2, 3});
  const std::vector<Placement> choices = {
      Placement::replicate(),        Placement::shard(0),           Placement::shard(1),
      Placement::stridedShard(0, 3), Placement::stridedShard(0, 2), Placement::partial()};
  for (const Placement& first : choices) {
    for (const Placement& second : choices) {
      const ShardingId id = shardingOf(mesh, {first, second});
      for (int64_t rows = 0; rows <= 13; ++rows) {
        for (const int64_t columns : {int64_t{1}, int64_t{4}, int64_t{6}}) {
          const Ints sizes = {rows, columns};
          const Ints strides = {columns, 1};
          for (int64_t rank = 0; rank < 6; ++rank) {
            const Ints part = localSizes(*id, sizes, *mesh.coordinateOf(rank));
            const DistributedTensor tensor(at::empty(part), id, sizes, strides);
            ASSERT_EQ(toInts(tensor.sizes()), sizes) << id->toText() << " rank " << rank;
            ASSERT_EQ(toInts(tensor.strides()), strides);
            ASSERT_TRUE(tensor.isBoxed() || isEven(*id, sizes))
                << id->toText() << " " << rows << " rank " << rank;
          }
        }
      }
    }
  }
}

TEST(Values, StridesOfATransposedPart) {
  // Columns outermost in memory: sharding rows spreads the columns.
  const at::Tensor local = at::ones({3, 2}).t();
  const DistributedTensor tensor(local, rowsOver(2), Ints{4, 3}, Ints{1, 4});
  EXPECT_FALSE(tensor.isBoxed());
  EXPECT_EQ(toInts(tensor.strides()), (Ints{1, 4}));
}

TEST(Values, ThroughAValueAndBack) {
  for (const DistributedTensor& tensor : {evenTensor(), unevenTensor()}) {
    const PolymorphicValue value = tensor;
    EXPECT_EQ(value.kind(), ValueKind::DistributedTensor);
    const DistributedTensor& inside = value.as<DistributedTensor>();
    EXPECT_TRUE(inside.isSame(tensor));
    EXPECT_EQ(toInts(inside.sizes()), toInts(tensor.sizes()));
    EXPECT_EQ(inside.isBoxed(), tensor.isBoxed());
    EXPECT_FALSE(value.is<at::Tensor>());
  }
}

TEST(Values, BadDistributedTensorsAreRefused) {
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { DistributedTensor(at::Tensor(), rowsOver(2)); }),
            "DistributedTensor: the local tensor must be defined: an undefined tensor; pass this "
            "rank's part, an "
            "empty tensor where the rank holds nothing");
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { DistributedTensor(at::ones({2}), ShardingId()); }),
            "DistributedTensor: a distributed tensor has a sharding: no sharding; intern a "
            "Sharding and pass its "
            "id, or use the tensor as it is");
  EXPECT_EQ(userErrorText(ErrorKind::Value, [] { DistributedTensor(at::ones({}), rowsOver(2)); }),
            "DistributedTensor: a placement must name a dimension of the tensor: S(0) for a local "
            "tensor of shape "
            "[]; shard one of the tensor's 0 dimensions");
  EXPECT_EQ(
      userErrorText(ErrorKind::Value,
                    [] { DistributedTensor(at::ones({2, 3}), rowsOver(2), Ints{4}, Ints{3, 1}); }),
      "DistributedTensor: global sizes and strides must be as many as the local tensor has "
      "dimensions: sizes "
      "[4] and strides [3, 1] for a local tensor of shape [2, 3]; pass one size and one stride for "
      "each "
      "dimension");
  EXPECT_EQ(userErrorText(ErrorKind::Index, [] { (void)evenTensor().size(2); }),
            "DistributedTensor.size: the dimension must be one of the tensor's: 2 for a tensor of "
            "shape [4, 3]; "
            "use -2 to 1");
}

}  // namespace
}  // namespace meshfuse::testing
