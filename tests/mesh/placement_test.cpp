// Placements: what they are, compare and print.
#include "meshfuse/mesh/placement.h"

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

TEST(Placement, KindsAnswerForThemselves) {
  EXPECT_TRUE(Placement().isReplicate());
  EXPECT_TRUE(Placement::shard(1).isShard());
  EXPECT_TRUE(Placement::shard(1).isSharded());
  EXPECT_FALSE(Placement::shard(1).isStridedShard());
  EXPECT_TRUE(Placement::stridedShard(0, 2).isSharded());
  EXPECT_FALSE(Placement::stridedShard(0, 2).isShard());
  EXPECT_TRUE(Placement::partial().isPartial());
  EXPECT_FALSE(Placement::partial().isSharded());
  EXPECT_EQ(sizeof(Placement), 12U);
}

TEST(Placement, EqualByKindDimensionFactorAndReduction) {
  EXPECT_EQ(Placement::shard(1), Placement::shard(1));
  EXPECT_FALSE(Placement::shard(1) == Placement::shard(0));
  EXPECT_FALSE(Placement::shard(1) == Placement::stridedShard(1, 2));
  EXPECT_FALSE(Placement::stridedShard(1, 3) == Placement::stridedShard(1, 2));
  EXPECT_FALSE(Placement::partial(ReduceKind::Sum) == Placement::partial(ReduceKind::Avg));
  EXPECT_FALSE(Placement::partial() == Placement::replicate());
}

TEST(Placement, PrintsAsTorchDoes) {
  EXPECT_EQ(Placement::replicate().toText(), "R");
  EXPECT_EQ(Placement::shard(2).toText(), "S(2)");
  EXPECT_EQ(Placement::stridedShard(0, 4).toText(), "_S(0, 4)");
  EXPECT_EQ(Placement::partial().toText(), "P(sum)");
  EXPECT_EQ(Placement::partial(ReduceKind::Product).toText(), "P(product)");
}

TEST(Placement, ReductionsAreFoundByTheirName) {
  for (ReduceKind kind :
       {ReduceKind::Sum, ReduceKind::Avg, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product}) {
    EXPECT_EQ(reduceKindFromName(nameOf(kind)), kind) << nameOf(kind);
  }
  EXPECT_EQ(nameOf(ReduceKind::Avg), "avg");
  for (std::string_view name : {"band", "premul_sum", "mean", ""}) {
    EXPECT_EQ(reduceKindFromName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace meshfuse
