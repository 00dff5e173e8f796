// Rules of single ops, and the steps of a resharding.
#include <algorithm>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/sharding/propagate.h"
#include "meshfuse/sharding/reshard_plan.h"

namespace meshfuse {
namespace {

using Placements = std::vector<Placement>;
const Placement R = Placement::replicate();
const Placement P = Placement::partial();
Placement shard(int64_t dim) { return Placement::shard(dim); }

ShardingId on(std::vector<int64_t> mesh, Placements placements) {
  return intern(
      makeSharding(DeviceMesh::fromShape(std::move(mesh)), MeshDevice::Cpu, std::move(placements)));
}

std::string stepsOf(std::vector<int64_t> mesh, const Placements& from, const Placements& to,
                    std::vector<int64_t> sizes) {
  const ReshardPlan plan = planResharding(*on(std::move(mesh), from), to, sizes);
  if (!plan.refusal.empty()) {
    return "refused: " + plan.refusal;
  }
  std::string text;
  for (const ReshardStep& step : plan.steps) {
    text += (text.empty() ? "" : " ") + std::to_string(step.axis) + "->" + step.to.toText();
  }
  return text;
}

TEST(ReshardPlan, TakesOneStepWhereOneIsEnough) {
  EXPECT_EQ(stepsOf({2}, {R}, {R}, {4}), "");
  EXPECT_EQ(stepsOf({2}, {P}, {R}, {4}), "0->R");
  EXPECT_EQ(stepsOf({2}, {shard(0)}, {R}, {4}), "0->R");
  EXPECT_EQ(stepsOf({2}, {R}, {shard(0)}, {4}), "0->S(0)");
  EXPECT_EQ(stepsOf({2}, {P}, {shard(0)}, {4}), "0->S(0)");
}

TEST(ReshardPlan, UnevenScatterReducesFirstAndUnevenGatherIsRefused) {
  EXPECT_EQ(stepsOf({2}, {P}, {shard(0)}, {5}), "0->R 0->S(0)");
  EXPECT_EQ(stepsOf({2}, {R}, {shard(0)}, {5}), "0->S(0)");
  EXPECT_EQ(stepsOf({2}, {shard(0)}, {R}, {5}),
            "refused: gathering unequal shards, S(0) on mesh axis 0 of size 5, is not supported");
}

TEST(ReshardPlan, GathersInnerAxesBeforeOuterOnesOfOneDimension) {
  EXPECT_EQ(stepsOf({2, 2}, {shard(0), shard(0)}, {R, R}, {8}), "1->R 0->R");
  EXPECT_EQ(stepsOf({2, 2}, {shard(0), shard(0)}, {R, shard(0)}, {8}), "1->R 0->R 1->S(0)");
  EXPECT_EQ(stepsOf({2, 2}, {R, shard(0)}, {shard(0), shard(0)}, {8}), "1->R 0->S(0) 1->S(0)");
  EXPECT_EQ(stepsOf({2, 2}, {shard(0), shard(1)}, {R, shard(1)}, {8, 8}), "0->R");
}

TEST(ReshardPlan, StridedShardsStayOrAreRefused) {
  const Placement strided = Placement::stridedShard(0, 2);
  EXPECT_EQ(stepsOf({2, 2}, {strided, shard(0)}, {strided, shard(0)}, {8}), "");
  EXPECT_NE(
      stepsOf({2, 2}, {strided, shard(0)}, {R, R}, {8}).find("refused: gathering a strided shard"),
      std::string::npos);
}

/// A definition of one op over Float inputs, propagated.
class Propagate : public ::testing::Test {
 protected:
  ValId input(std::vector<int64_t> shape, ShardingId sharding) {
    Contiguity contiguity;
    for (int64_t size : shape) {
      contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
    }
    shardings.push_back(sharding);
    return fusion.addInputTensor(PrimType::Float, shape, contiguity);
  }
  ValId call(std::string_view op, std::vector<Arg> args) {
    return addCall(fusion, *findOp(op), std::move(args))[0];
  }

  Fusion propagate(ValId output) {
    fusion.addOutput(output);
    return propagateShardings(fusion, shardings);
  }
  static Placements placements(const Fusion& result) {
    return result.val(result.outputs()[0]).tensor().sharding->placements;
  }
  static int64_t reshards(const Fusion& result) {
    return std::ranges::count_if(result.exprs(), isReshard);
  }

  Fusion fusion;
  std::vector<ShardingId> shardings;
};

TEST_F(Propagate, ColumnAndRowParallelLinearNeedOneReduction) {
  const ValId x = input({4, 6}, on({2}, {R}));
  const ValId w1 = input({8, 6}, on({2}, {shard(0)}));
  const ValId b1 = input({8}, on({2}, {shard(0)}));
  const ValId w2 = input({6, 8}, on({2}, {shard(1)}));
  const ValId b2 = input({6}, on({2}, {R}));
  const ValId hidden = call("relu", {call("linear", {x, w1, b1})});
  const Fusion result = propagate(call("exp", {call("linear", {hidden, w2, b2})}));
  EXPECT_EQ(placements(result), Placements{R});
  // The bias becomes a term of one rank (local), and the sum is reduced before exp.
  EXPECT_EQ(reshards(result), 2) << print(result);
}

TEST_F(Propagate, AResharedValueIsSharedByItsReaders) {
  const ValId x = input({4, 6}, on({2}, {P}));
  const Fusion result = propagate(call("add", {call("exp", {x}), call("tanh", {x})}));
  EXPECT_EQ(reshards(result), 1) << print(result);
  EXPECT_EQ(placements(result), Placements{R});
}

TEST_F(Propagate, AReaderThatComesLaterUsesTheReducedValue) {
  const ValId x = input({4, 6}, on({2}, {P}));
  const ValId largest = call("max", {x, Ints{1}, Scalar(true)});
  const Fusion result = propagate(call("sub", {x, largest}));
  EXPECT_EQ(reshards(result), 1) << print(result);
  EXPECT_EQ(placements(result), Placements{R});
}

TEST_F(Propagate, ANumberIsNotAddedToPartialValues) {
  const Fusion result = propagate(call("add", {input({4}, on({2}, {P})), Scalar(1)}));
  EXPECT_EQ(reshards(result), 1);
  EXPECT_EQ(placements(result), Placements{R});
}

TEST_F(Propagate, PartialValuesAddWithoutCommunication) {
  const Fusion result =
      propagate(call("add", {input({4}, on({2}, {P})), input({4}, on({2}, {P}))}));
  EXPECT_EQ(reshards(result), 0);
  EXPECT_EQ(placements(result), Placements{P});
}

TEST_F(Propagate, ReshapeKeepsTheOuterShardWhereItDivides) {
  EXPECT_EQ(
      placements(propagate(call("reshape", {input({12, 8}, on({4}, {shard(0)})), Ints{16, 6}}))),
      Placements{shard(0)});
}

TEST_F(Propagate, ReshapeOfAnInnerShardGathers) {
  const Fusion result =
      propagate(call("reshape", {input({12, 8}, on({4}, {shard(1)})), Ints{16, 6}}));
  EXPECT_EQ(placements(result), Placements{R});
  EXPECT_EQ(reshards(result), 1);
}

TEST_F(Propagate, UnevenShardsPassElementwiseAndAreRefusedWhereTheyWouldMove) {
  const ValId x = input({5, 3}, on({2}, {shard(0)}));
  EXPECT_EQ(placements(propagate(call("exp", {x}))), Placements{shard(0)});
  try {
    propagate(addCall(fusion, *findOp("var_mean"), {x, Ints{0}})[0]);
    FAIL() << "an uneven gather must be refused";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "var_mean: an operand must lie as the op needs it: operand tv0 of type Float[5, "
                 "3] @ DeviceMesh{0 1} cpu "
                 "(S(0)): gathering unequal shards, S(0) on mesh axis 0 of size 5, is not "
                 "supported; redistribute the "
                 "operand before the call, or use sizes that divide by the mesh axis");
  }
}

TEST_F(Propagate, RefusesInputsThatDoNotFitTogether) {
  const auto errorOf = [&](ShardingId a, ShardingId b) -> std::string {
    Fusion two;
    const ValId x = two.addInputTensor(PrimType::Float, std::vector<int64_t>{4}, {true});
    const ValId y = two.addInputTensor(PrimType::Float, std::vector<int64_t>{4}, {true});
    two.addOutput(addCall(two, *findOp("add"), {x, y})[0]);
    try {
      propagateShardings(two, std::vector{a, b});
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(errorOf(on({2}, {R}), {})
                .find("distributed and plain tensors do not mix: input tv1 is a plain tensor"),
            std::string::npos);
  EXPECT_NE(errorOf(on({2}, {R}), on({4}, {R})).find("distributed inputs lie on one mesh"),
            std::string::npos);
  EXPECT_NE(errorOf(on({2}, {shard(1)}), on({2}, {R}))
                .find("a placement names a dimension of its tensor"),
            std::string::npos);
  EXPECT_NE(errorOf(on({2, 2}, {P, Placement::partial(ReduceKind::Max)}), on({2, 2}, {R, R}))
                .find("one tensor's partial placements combine in one way"),
            std::string::npos);
}

TEST_F(Propagate, PartialSumsPassASumUpToEachElement) {
  const ValId x = input({4, 6}, on({2}, {P}));
  const Fusion result = propagate(call("cumsum", {x, Scalar(1)}));
  EXPECT_EQ(reshards(result), 0) << print(result);
  EXPECT_EQ(placements(result), Placements{P});
}

TEST_F(Propagate, ProductsUpToEachElementNeedWholeValues) {
  const ValId x = input({4, 6}, on({2}, {P}));
  const Fusion result = propagate(call("cumprod", {x, Scalar(1)}));
  EXPECT_EQ(reshards(result), 1) << print(result);
  EXPECT_EQ(placements(result), Placements{R});
}

TEST_F(Propagate, AScannedDimIsWholeAndTheOthersStaySharded) {
  const ValId x = input({4, 6}, on({2, 2}, {shard(0), shard(1)}));
  const Fusion result = propagate(call("cummax", {x, Scalar(1)}));
  EXPECT_EQ(reshards(result), 1) << print(result);
  EXPECT_EQ(placements(result)[0], shard(0));
}

TEST_F(Propagate, AnyPartialValuesPassATriangle) {
  const ValId x = input({4, 6}, on({2}, {Placement::partial(ReduceKind::Min)}));
  const Fusion result = propagate(call("triu", {x}));
  EXPECT_EQ(placements(result), Placements{Placement::partial(ReduceKind::Min)});
}

TEST_F(Propagate, OnlyOrderedPartialValuesPassClamp) {
  const Placement highest = Placement::partial(ReduceKind::Max);
  const ValId x = input({4, 6}, on({2}, {highest}));
  const ValId y = input({4, 6}, on({2}, {P}));
  fusion.addOutput(call("clamp", {x, Scalar(0), {}}));
  const Fusion result = propagate(call("clamp", {y, Scalar(0), {}}));
  EXPECT_EQ(placements(result), Placements{highest});
  EXPECT_EQ(result.val(result.outputs()[1]).tensor().sharding->placements, Placements{R});
}

TEST_F(Propagate, ProductsOfShardsArePartial) {
  const ValId x = input({4, 6}, on({2}, {shard(1)}));
  const Fusion result = propagate(call("prod", {x, Ints{1}}));
  EXPECT_EQ(reshards(result), 0) << print(result);
  EXPECT_EQ(placements(result), Placements{Placement::partial(ReduceKind::Product)});
}

TEST_F(Propagate, WhatNoBackendCombinesIsReducedWhole) {
  const ValId x = input({4, 6}, on({2}, {shard(1)}));
  const ValId product = call("prod", {x, Ints{1}, {}, PrimType::ComplexFloat});
  fusion.addOutput(call("sum", {x, Ints{1}, {}, PrimType::Bool}));
  const Fusion result = propagate(product);
  for (const ValId output : result.outputs()) {
    EXPECT_EQ(result.val(output).tensor().sharding->placements, Placements{R}) << print(result);
  }
}

}  // namespace
}  // namespace meshfuse
