// Groups as loop IR.
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/lowering/loop_kernel.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/scheduling/segment.h"

namespace meshfuse {
namespace {

KernelGraph graphOf(const std::string& text) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups = segment(fusion);
  return buildGraph(fusion, groups.at(0));
}

TEST(KernelGraph, EqualCallsAreOneNode) {
  EXPECT_EQ(toText(graphOf("input tv0: Float[8, 6] contiguity(t, t)\n"
                           "tv1: Float[8, 6] = exp(tv0)\n"
                           "tv2: Float[8, 6] = exp(tv0)\n"
                           "tv3: Float[8, 6] = mul(tv1, tv2)\n"
                           "output tv3\n")),
            "n0: Float = read 0 [l0, l1]\n"
            "n1: Float = exp(n0) [l0, l1]\n"
            "n2: Float = mul(n1, n1) [l0, l1]\n"
            "write n2\n");
}

// One reduction has elements to fold, the other is over a dimension of one element.
TEST(KernelGraph, AReductionOverOneElementIsTheElement) {
  EXPECT_EQ(toText(graphOf("input tv0: Float[8, b1] contiguity(t, n)\n"
                           "tv1: Float[b1, b1] = sum(tv0, [0], True, Null)\n"
                           "tv2: Float[8] = sum(tv0, [1], False, Null)\n"
                           "output tv1\n"
                           "output tv2\n")),
            "n0: Float = read 0 [l0]\n"
            "n1: Float = fold sum(n0) []\n"
            "write n1\n"
            "write n0\n");
}

// The bounds are numbers of the element type.
TEST(KernelGraph, AClampIsTwoChoices) {
  EXPECT_EQ(toText(graphOf("input tv0: Float[8, 6] contiguity(t, t)\n"
                           "tv1: Float[8, 6] = clamp(tv0, -0.5, 1.0)\n"
                           "output tv1\n")),
            "n0: Float = read 0 [l0, l1]\n"
            "n1: Double = -0.5 []\n"
            "n2: Double = 1.0 []\n"
            "n3: Float = -0.5 []\n"
            "n4: Float = 1.0 []\n"
            "n5: Bool = lt(n0, n3) [l0, l1]\n"
            "n6: Float = where(n5, n3, n0) [l0, l1]\n"
            "n7: Bool = gt(n6, n4) [l0, l1]\n"
            "n8: Float = where(n7, n4, n6) [l0, l1]\n"
            "write n8\n");
}

TEST(KernelGraph, ATriangleChoosesByThePositionBehindTheDiagonal) {
  const KernelGraph graph = graphOf(
      "input tv0: Float[3, 8, 6] contiguity(t, t, t)\n"
      "tv1: Float[3, 8, 6] = triu(tv0, -1)\n"
      "output tv1\n");
  EXPECT_EQ(toText(graph),
            "n0: Float = read 0 [l0, l1, l2]\n"
            "n1: Int = index 0 [l0, l1, l2]\n"
            "n2: Int = -1 []\n"
            "n3: Bool = ge(n1, n2) [l0, l1, l2]\n"
            "n4: Float = 0 []\n"
            "n5: Float = where(n3, n0, n4) [l0, l1, l2]\n"
            "write n5\n");
  EXPECT_EQ(graph.indices.at(0).strides, (std::vector<int64_t>{0, -1, 1}));
}

TEST(KernelGraph, APickReadsAtAPosition) {
  const KernelGraph graph = graphOf(
      "input tv0: Float[8, 6] contiguity(t, t)\n"
      "input tv1: Int32[4] contiguity(t)\n"
      "tv2: Float[4, 6] = embedding_fwd(tv1, tv0, None, None, None, None, None)\n"
      "tv3: Float[4, 6] = neg(tv2)\n"
      "output tv3\n");
  EXPECT_EQ(toText(graph),
            "n0: Int32 = read 0 [l0]\n"
            "n1: Int = cast(n0) [l0]\n"
            "n2: Float = pick 1(n1) [l0, l1]\n"
            "n3: Float = neg(n2) [l0, l1]\n"
            "write n3\n");
  EXPECT_EQ(graph.reads.at(1).pickedDim, 0);
}

// Two calls draw two seeds; two with one seed are one.
TEST(KernelGraph, RandomNumbersAreTheirSeedsAndPositions) {
  EXPECT_EQ(toText(graphOf("input tv0: Float[6] contiguity(t)\n"
                           "tv1: Float[6] = randn_like(tv0)\n"
                           "tv2: Float[6] = randn_like(tv0)\n"
                           "tv3: Float[6] = sub(tv1, tv2)\n"
                           "output tv3\n")),
            "n0: Float = read 0 [l0]\n"
            "n1: Int = seed 0 []\n"
            "n2: Int = 0 []\n"
            "n3: Int = index 0 [l0]\n"
            "n4: Float = 0.0 []\n"
            "n5: Float = 1.0 []\n"
            "n6: Float = normal(n1, n2, n3, n4, n5) [l0]\n"
            "n7: Int = seed 1 []\n"
            "n8: Int = 0 []\n"
            "n9: Int = index 1 [l0]\n"
            "n10: Float = 0.0 []\n"
            "n11: Float = 1.0 []\n"
            "n12: Float = normal(n7, n8, n9, n10, n11) [l0]\n"
            "n13: Float = sub(n6, n12) [l0]\n"
            "write n13\n");
}

// Positions in row-major order are one run where the elements are, and a reason against merging where they are not.
TEST(Lower, AnIndexFollowsTheLoopsAsAnAddressDoes) {
  const auto loopsOf = [](std::vector<int64_t> strides) {
    KernelGraph graph = graphOf(
        "input tv0: Float[8, 6] contiguity(t, t)\n"
        "tv1: Float[8, 6] = rand_like(tv0)\n"
        "output tv1\n");
    const Nest nest{
        {8, 6}, {0, 0}, {{4, false, strides}, {4, true, strides}, {0, false, {6, 1}}}, 40, 0};
    const std::string text = toText(lower(std::move(graph), chooseSchedule(nest, {})));
    return text.substr(0, text.find("n1:"));
  };
  EXPECT_EQ(loopsOf({6, 1}),
            "in t0: Float [  1]\n"
            "out t1: Float [  1]\n"
            "index t2: Int [  1]\n");
  EXPECT_EQ(loopsOf({1, 8}),
            "in t0: Float [s  1]\n"
            "out t1: Float [s  1]\n"
            "index t2: Int [s  s]\n");
}

// The row's variance is one number; the row that is reduced again repeats it.
TEST(KernelGraph, AReductionOfRepeatedNumbersFoldsThem) {
  EXPECT_EQ(toText(graphOf("input tv0: Float[6] contiguity(t)\n"
                           "tv1: Float[b1] = sum(tv0, [0], True, Null)\n"
                           "tv2: Float[6] = expand(tv1, [6])\n"
                           "tv3: Float[] = sum(tv2, [0], False, Null)\n"
                           "output tv3\n")),
            "n0: Float = read 0 [l0]\n"
            "n1: Float = fold sum(n0) []\n"
            "n2: Float = fold sum(n1) []\n"
            "write n2\n");
}

// What repeats along the reduced loop is written for each of its elements, in a pass after the fold.
TEST(Lower, ARepeatedResultIsWrittenAlongTheReducedLoop) {
  KernelGraph graph = graphOf(
      "input tv0: Float[6] contiguity(t)\n"
      "tv1: Float[b1] = sum(tv0, [0], True, Null)\n"
      "tv2: Float[6] = expand(tv1, [6])\n"
      "tv3: Float[6] = neg(tv2)\n"
      "output tv3\n");
  const Nest nest{{6}, {1}, {{4, false, {1}}, {4, true, {1}}}, 1, 4};
  const LoopKernel kernel = lower(std::move(graph), chooseSchedule(nest, {}));
  ASSERT_EQ(kernel.passes.size(), 2U);
  ASSERT_EQ(kernel.passes[1].stores.size(), 1U);
  EXPECT_EQ(kernel.passes[1].stores[0].tensor, 1);
  for (const LoopSection& section : kernel.sections) {
    EXPECT_TRUE(section.stores.empty());
  }
}

}  // namespace
}  // namespace meshfuse
