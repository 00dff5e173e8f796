// What is wrong with loops that were broken by hand; lower() gives right ones.
#include "meshfuse/lowering/violations.h"

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {
namespace {

using Texts = std::vector<std::string>;

/// A softmax of rows that are kept.
class LoopViolations : public ::testing::Test {
 protected:
  static LoopKernel softmax() {
    const Fusion fusion = parse(
        "input tv0: Float[8, 600] contiguity(t, t)\n"
        "tv1: Float[8, b1] = max(tv0, [1], True, Null)\n"
        "tv2: Float[8, 600] = sub(tv0, tv1)\n"
        "tv3: Float[8, 600] = exp(tv2)\n"
        "tv4: Float[8, b1] = sum(tv3, [1], True, Null)\n"
        "tv5: Float[8, 600] = truediv(tv3, tv4)\n"
        "output tv5\n",
        [](std::string_view name) { return findOp(name); });
    const Nest nest{
        {8, 600}, {0, 1}, {{4, false, {600, 1}}, {4, true, {600, 1}}}, 20, /*rowBytes=*/4};
    return lower(buildGraph(fusion, segment(fusion).at(0)), chooseSchedule(nest, {}));
  }

  LoopKernel kernel_ = softmax();
};

TEST_F(LoopViolations, RightLoopsHaveNone) {
  ASSERT_EQ(toText(kernel_),
            "in t0: Float [s  1]\n"
            "out t1: Float [s  1]\n"
            "for 1 parallel loops\n"
            "  for 0 serial loops and the lane\n"
            "    n0: Float = read 0\n"
            "    accumulate n1\n"
            "  n1: Float = fold max(n0)\n"
            "  for 0 serial loops and the lane\n"
            "    n0: Float = read 0\n"
            "    n2: Float = sub(n0, n1)\n"
            "    n3: Float = exp(n2)\n"
            "    row of n3\n"
            "    accumulate n4\n"
            "  n4: Float = fold sum(n3)\n"
            "  for 0 serial loops and the lane\n"
            "    n3 from its row\n"
            "    n5: Float = truediv(n3, n4)\n"
            "    t1 = n5\n");
  EXPECT_EQ(loopViolations(kernel_), Texts());
}

TEST_F(LoopViolations, AValueIsComputedBeforeItIsUsed) {
  kernel_.passes[1].nodes.erase(kernel_.passes[1].nodes.begin() + 1);
  EXPECT_EQ(loopViolations(kernel_), Texts{"n2 is used by n3 before it is computed"});
}

TEST_F(LoopViolations, AFoldIsComplete) {
  kernel_.passes[0].folds.clear();
  EXPECT_EQ(loopViolations(kernel_), Texts{"n1 is used before it is accumulated"});
}

TEST_F(LoopViolations, AFoldIsAccumulatedOnce) {
  kernel_.passes[0].folds.push_back(1);
  EXPECT_EQ(loopViolations(kernel_), Texts{"n1 is accumulated twice"});
}

TEST_F(LoopViolations, ARowHoldsWhatWasPutThere) {
  kernel_.passes[1].staged.clear();
  EXPECT_EQ(loopViolations(kernel_), Texts{"n3 is taken from a row before it is put there"});
}

TEST_F(LoopViolations, WhatReductionsAreFollowedByIsThere) {
  kernel_.sections[1].scalars.clear();
  EXPECT_EQ(loopViolations(kernel_), Texts{"n1 is used by n2 before it is computed"});
}

TEST_F(LoopViolations, EachOutputIsStoredOnce) {
  kernel_.passes[2].stores.clear();
  EXPECT_EQ(loopViolations(kernel_), Texts{"t1 is stored 0 times"});
  kernel_.passes[2].stores = {{1, 5}, {0, 5}, {1, 5}};
  EXPECT_EQ(loopViolations(kernel_), (Texts{"t0 is stored 1 times", "t1 is stored 2 times"}));
}

}  // namespace
}  // namespace meshfuse
