// Reshapes in kernels: loops that are divided and joined.
#include <gtest/gtest.h>

#include "scheduling/group_text.h"

namespace meshfuse {
namespace {

// Heads of attention: the columns are walked by two loops wherever they appear.
TEST(Segment, AReshapeDividesTheLoopsOfItsKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[8, 3, 2] = reshape(tv1, [8, 3, 2])\n"
                          "tv3: Float[3, 8, 2] = permute(tv2, [1, 0, 2])\n"
                          "tv4: Float[3, 8, 2] = neg(tv3)\n"
                          "output tv4\n"),
            "kernel [l0, l1, l2] tv1[l0, l1*l2] = exp(tv0[l0, l1*l2]); "
            "tv2[l0, l1, l2] = reshape(tv1[l0, l1*l2]); "
            "tv3[l1, l0, l2] = permute(tv2[l0, l1, l2]); tv4[l1, l0, l2] = neg(tv3[l1, l0, l2]) "
            "-> tv4\n");
}

TEST(Segment, AReductionOverAJoinedDimensionReducesItsLoops) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[48] = reshape(tv1, [48])\n"
                          "tv3: Float[] = sum(tv2, [0], False, Null)\n"
                          "output tv3\n"),
            "kernel [l0: reduced, l1: reduced] tv1[l0, l1] = exp(tv0[l0, l1]); "
            "tv2[l0*l1] = reshape(tv1[l0, l1]); tv3[] = sum(tv2[l0*l1]) -> tv3\n");
}

// Normalized over a part of the columns, and back: a divided loop is in part reduced.
TEST(Segment, ANormalizationOfPartsIsOneKernel) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Float[b1, 6] contiguity(n, t)\n"
                          "tv2: Float[8, 3, 2] = reshape(tv0, [8, 3, 2])\n"
                          "tv3: Float[8, 3, b1] = sum(tv2, [2], True, Null)\n"
                          "tv4: Float[8, 3, 2] = truediv(tv2, tv3)\n"
                          "tv5: Float[8, 6] = reshape(tv4, [8, 6])\n"
                          "tv6: Float[8, 6] = mul(tv5, tv1)\n"
                          "output tv6\n"),
            "kernel [l0, l1, l2: reduced] tv2[l0, l1, l2] = reshape(tv0[l0, l1*l2]); "
            "tv3[l0, l1, .] = sum(tv2[l0, l1, l2]); "
            "tv4[l0, l1, l2] = truediv(tv2[l0, l1, l2], tv3[l0, l1, .]); "
            "tv5[l0, l1*l2] = reshape(tv4[l0, l1, l2]); "
            "tv6[l0, l1*l2] = mul(tv5[l0, l1*l2], tv1[., l1*l2]) -> tv6\n");
}

// 2 is a part of 8 and of 24 alike, and no dimension: the loop runs over a factor of the reshape.
TEST(Segment, APartThatIsNoDimensionIsALoop) {
  EXPECT_EQ(groupsOf("input tv0: Float[8, 3] contiguity(t, t)\n"
                     "tv1: Float[8, 3] = exp(tv0)\n"
                     "tv2: Float[4, 6] = reshape(tv1, [4, 6])\n"
                     "tv3: Float[4] = sum(tv2, [1], False, Null)\n"
                     "output tv3\n"),
            "kernel [l0, l1: reduced, l2: reduced] tv1[l0*l1, l2] = exp(tv0[l0*l1, l2]); "
            "tv2[l0, l1*l2] = reshape(tv1[l0*l1, l2]); tv3[l0] = sum(tv2[l0, l1*l2]) -> tv3\n");
}

TEST(Segment, ReshapesThatDivideALoopDifferentlyAreTwoKernels) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 3, 2] = reshape(tv0, [8, 3, 2])\n"
                          "tv2: Float[8, 3, 2] = exp(tv1)\n"
                          "tv3: Float[8, 6] = reshape(tv2, [8, 6])\n"
                          "tv4: Float[8, 2, 3] = reshape(tv3, [8, 2, 3])\n"
                          "tv5: Float[8, 2, 3] = neg(tv4)\n"
                          "output tv5\n"),
            "kernel [l0, l1, l2] tv1[l0, l1, l2] = reshape(tv0[l0, l1*l2]); "
            "tv2[l0, l1, l2] = exp(tv1[l0, l1, l2]); tv3[l0, l1*l2] = reshape(tv2[l0, l1, l2]) "
            "-> tv3\n"
            "kernel [l0, l1, l2] tv4[l0, l1, l2] = reshape(tv3[l0, l1*l2]); "
            "tv5[l0, l1, l2] = neg(tv4[l0, l1, l2]) -> tv5\n");
}

TEST(Segment, AReshapeWithoutCommonFactorsIsACall) {
  EXPECT_EQ(groupsOf("input tv0: Float[6, 4] contiguity(t, t)\n"
                     "tv1: Float[6, 4] = exp(tv0)\n"
                     "tv2: Float[8, 3] = reshape(tv1, [8, 3])\n"
                     "tv3: Float[8, 3] = neg(tv2)\n"
                     "output tv3\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]) -> tv1\n"
            "call tv2 = reshape(tv1) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = neg(tv2[l0, l1]) -> tv3\n");
}

TEST(Segment, AReshapeOfAnInputAloneIsAView) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[48] = reshape(tv0, [48])\n"
                          "output tv1\n"),
            "call tv1 = reshape(tv0) -> tv1\n");
}

}  // namespace
}  // namespace meshfuse
