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
