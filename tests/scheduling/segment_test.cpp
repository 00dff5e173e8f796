#include "meshfuse/scheduling/segment.h"

#include <gtest/gtest.h>

#include "scheduling/group_text.h"

namespace meshfuse {
namespace {

TEST(Segment, AChainIsOneKernel) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                    "tv2: Float[8, 6] = neg(tv1)\n"
                    "output tv2\n"),
      "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0, l1] = neg(tv1[l0, l1]) -> tv2\n");
}

TEST(Segment, ADiamondIsOneKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[8, 6] = neg(tv0)\n"
                          "tv3: Float[8, 6] = add(tv1, tv2)\n"
                          "output tv3\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0, l1] = neg(tv0[l0, l1]); "
            "tv3[l0, l1] = add(tv1[l0, l1], tv2[l0, l1]) -> tv3\n");
}

TEST(Segment, TwoResultsOfOneInputAreOneKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[8, 6] = neg(tv0)\n"
                          "output tv1\n"
                          "output tv2\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0, l1] = neg(tv0[l0, l1]) -> "
            "tv1, tv2\n");
}

TEST(Segment, AComputedRowIsNotComputedAgainForEveryRow) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Float[b1, 6] contiguity(n, t)\n"
                          "tv2: Float[b1, 6] = exp(tv1)\n"
                          "tv3: Float[8, 6] = add(tv0, tv2)\n"
                          "output tv3\n"),
            "kernel [l0] tv2[., l0] = exp(tv1[., l0]) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = add(tv0[l0, l1], tv2[., l1]) -> tv3\n");
}

TEST(Segment, ASoftmaxIsOneKernel) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, b1] = max(tv0, [1], True, Null)\n"
                    "tv2: Float[8, 6] = sub(tv0, tv1)\n"
                    "tv3: Float[8, 6] = exp(tv2)\n"
                    "tv4: Float[8, b1] = sum(tv3, [1], True, Null)\n"
                    "tv5: Float[8, 6] = truediv(tv3, tv4)\n"
                    "output tv5\n"),
      "kernel [l0, l1: reduced] tv1[l0, .] = max(tv0[l0, l1]); tv2[l0, l1] = sub(tv0[l0, l1], "
      "tv1[l0, .]); tv3[l0, l1] = exp(tv2[l0, l1]); tv4[l0, .] = sum(tv3[l0, l1]); "
      "tv5[l0, l1] = truediv(tv3[l0, l1], tv4[l0, .]) -> tv5\n");
}

TEST(Segment, ReductionsOverOtherDimensionsAreTwoKernels) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                    "tv2: Float[8] = sum(tv1, [1], False, Null)\n"
                    "tv3: Float[6] = sum(tv1, [0], False, Null)\n"
                    "output tv2\n"
                    "output tv3\n"),
      "kernel [l0, l1: reduced] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0] = sum(tv1[l0, l1]) -> "
      "tv1, tv2\n"
      "kernel [l0: reduced, l1] tv3[l1] = sum(tv1[l0, l1]) -> tv3\n");
}

const std::string kSquare = "input tv0: Float[8, 8] contiguity(t, t)\n";

TEST(Segment, AnInputAndItsTransposeAreReadByOneKernel) {
  EXPECT_EQ(groupsOf(kSquare + "tv1: Float[8, 8] = permute(tv0, [1, 0])\n"
                               "tv2: Float[8, 8] = add(tv0, tv1)\n"
                               "output tv2\n"),
            "kernel [l0, l1] tv1[l1, l0] = permute(tv0[l0, l1]); tv2[l1, l0] = add(tv0[l1, l0], "
            "tv1[l1, l0]) -> tv2\n");
}

// The transpose that the second kernel reads is the first one's memory, seen by a library.
TEST(Segment, AComputedValueAndItsTransposeAreTwoKernels) {
  EXPECT_EQ(groupsOf(kSquare + "tv1: Float[8, 8] = exp(tv0)\n"
                               "tv2: Float[8, 8] = permute(tv1, [1, 0])\n"
                               "tv3: Float[8, 8] = add(tv1, tv2)\n"
                               "output tv3\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]) -> tv1\n"
            "call tv2 = permute(tv1) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = add(tv1[l0, l1], tv2[l0, l1]) -> tv3\n");
}

TEST(Segment, RowsThatRepeatANumberAreAViewOfIt) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, b1] = sum(tv0, [1], True, Null)\n"
                          "tv2: Float[8, b6] = expand(tv1, [8, 6])\n"
                          "tv3: Float[8, 6] = sub(tv0, tv2)\n"
                          "output tv2\n"
                          "output tv3\n"),
            "kernel [l0, l1: reduced] tv1[l0, .] = sum(tv0[l0, l1]); "
            "tv2[l0, l1] = expand(tv1[l0, .]); tv3[l0, l1] = sub(tv0[l0, l1], tv2[l0, l1]) "
            "-> tv1, tv3\n"
            "call tv2 = expand(tv1) -> tv2\n");
}

TEST(Segment, AnOrderInMemoryIsPartOfAKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[6, 8] = permute(tv0, [1, 0])\n"
                          "tv2: Float[6, 8] = exp(tv1)\n"
                          "tv3: Float[6, 8] = stride_order(tv2, [1, 0])\n"
                          "output tv3\n"),
            "kernel [l0, l1] tv1[l1, l0] = permute(tv0[l0, l1]); tv2[l1, l0] = exp(tv1[l1, l0]); "
            "tv3[l1, l0] = stride_order(tv2[l1, l0]) -> tv3\n");
}

TEST(Segment, ALibraryCallStandsBetweenKernels) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Int[8, 6] = argsort(tv1, 1, False, False)\n"
                          "tv3: Int[8, 6] = neg(tv2)\n"
                          "output tv3\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]) -> tv1\n"
            "call tv2 = argsort(tv1) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = neg(tv2[l0, l1]) -> tv3\n");
}

// A library makes what lacks the kernel's loop before it runs, and with it the view in between that others read as well.
TEST(Segment, AViewThatAnEarlierCallTakesIsMadeBeforeIt) {
  EXPECT_EQ(groupsOf("input tv0: Float[b1] contiguity(n)\n"
                     "input tv1: Float[6] contiguity(t)\n"
                     "tv2: Float[6] = threshold(tv0, tv1, tv0)\n"
                     "tv3: Float[] = sum(tv0, [0], False, Null)\n"
                     "tv4: Float[b1] = broadcast(tv3, [1])\n"
                     "tv5: Float[b1, 6] = broadcast(tv2, [1, 0])\n"
                     "tv6: Float[] = sum(tv4, [0], False, Null)\n"
                     "tv7: Float[b1] = broadcast(tv6, [1])\n"
                     "tv8: Float[b1] = sub(tv4, tv7)\n"
                     "tv9: Float[] = neg(tv3)\n"
                     "output tv9\n"
                     "output tv8\n"
                     "output tv5\n"),
            "call tv3 = sum(tv0) -> tv3\n"
            "call tv4 = broadcast(tv3) -> tv4\n"
            "call tv6 = sum(tv4) -> tv6\n"
            "call tv7 = broadcast(tv6) -> tv7\n"
            "kernel [l0] tv2[l0] = threshold(tv0[.], tv1[l0], tv0[.]); tv5[., l0] = "
            "broadcast(tv2[l0]) -> tv5\n"
            "kernel [] tv8[.] = sub(tv4[.], tv7[.]) -> tv8\n"
            "kernel [] tv9[] = neg(tv3[]) -> tv9\n");
}

// Whole numbers are compared with a bound in their own range: only the library looks whether there is one.
TEST(Segment, AClampOfWholeNumbersByAFloatOfTheCallIsTheLibrarys) {
  const std::string call =
      "input c0: Double\n"
      "tv1: Int[8] = clamp(tv0, c0, 5)\n"
      "output tv1\n";
  EXPECT_EQ(groupsOf("input tv0: Int[8] contiguity(t)\n" + call),
            "call tv1 = clamp(tv0, c0) -> tv1\n");
}

TEST(Segment, RandomNumbersLikeATensorAreReadWithIt) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = rand_like(tv0)\n"
                          "tv2: Float[8, 6] = mul(tv0, tv1)\n"
                          "output tv2\n"),
            "kernel [l0, l1] tv1[l0, l1] = rand_like(tv0[l0, l1]); tv2[l0, l1] = mul(tv0[l0, l1], "
            "tv1[l0, l1]) -> tv2\n");
}

TEST(Segment, NumbersOfNoOperandHaveTheLoopsOfTheirResult) {
  EXPECT_EQ(
      groupsOf("tv0: Float[8, 6] = uniform(0.0, 1.0, [8, 6], None, None, Float)\n"
               "tv1: Float[8] = sum(tv0, [1], False, Null)\n"
               "output tv1\n"),
      "kernel [l0, l1: reduced] tv0[l0, l1] = uniform(); tv1[l0] = sum(tv0[l0, l1]) -> tv1\n");
}

// A row of numbers is made again for each row of the operand, which is less than reading it.
TEST(Segment, EquallySpacedNumbersArePartOfWhatUsesThem) {
  const std::string iota = "tv1: Float[6] = iota(6, 0.0, 0.5, Float)\n";
  EXPECT_EQ(groupsOf(kX + iota +
                     "tv2: Float[b1, 6] = broadcast(tv1, [1, 0])\n"
                     "tv3: Float[8, 6] = add(tv0, tv2)\n"
                     "output tv3\n"),
            "kernel [l0, l1] tv1[l0] = iota(); tv2[., l0] = broadcast(tv1[l0]); tv3[l1, l0] = "
            "add(tv0[l1, l0], tv2[., l0]) -> tv3\n");
  EXPECT_EQ(groupsOf(kX + iota + "output tv1\n"), "call tv1 = iota() -> tv1\n");
}

// What is known only in a call is looked at by the library.
TEST(Segment, NumbersThatMayBeRefusedAreTheLibrarys) {
  EXPECT_EQ(groupsOf("input c0: Double\n"
                     "tv0: Float[6] = uniform(0.0, c0, [6], None, None, Float)\n"
                     "tv1: Float[6] = neg(tv0)\n"
                     "output tv1\n"),
            "call tv0 = uniform(c0) -> tv0\n"
            "kernel [l0] tv1[l0] = neg(tv0[l0]) -> tv1\n");
  EXPECT_EQ(groupsOf("tv0: Int32[6] = iota(6, 2147483640, 3, Int32)\n"
                     "tv1: Int32[6] = neg(tv0)\n"
                     "output tv1\n"),
            "call tv0 = iota() -> tv0\n"
            "kernel [l0] tv1[l0] = neg(tv0[l0]) -> tv1\n");
}

TEST(Segment, APickedTensorHasNoLoopWherePositionsAreComputed) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Int[5] contiguity(t)\n"
                          "tv2: Int[5] = add(tv1, 1)\n"
                          "tv3: Float[5, 6] = index_select(tv0, tv2, 0)\n"
                          "tv4: Float[5, 6] = neg(tv3)\n"
                          "output tv4\n"),
            "kernel [l0] tv2[l0] = add(tv1[l0]) -> tv2\n"
            "kernel [l0, l1] tv3[l1, l0] = index_select(tv0[., l0], tv2[l1]); tv4[l1, l0] = "
            "neg(tv3[l1, l0]) -> tv4\n");
}

TEST(Segment, WhatIsPickedFromLiesInMemory) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Int[8, 4] contiguity(t, t)\n"
                          "tv2: Float[8, 6] = exp(tv0)\n"
                          "tv3: Float[8, 4] = gather(tv2, tv1, 1)\n"
                          "tv4: Float[8, 4] = neg(tv3)\n"
                          "output tv4\n"),
            "kernel [l0, l1] tv2[l0, l1] = exp(tv0[l0, l1]) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = gather(tv2[l0, .], tv1[l0, l1]); tv4[l0, l1] = "
            "neg(tv3[l0, l1]) -> tv4\n");
}

// The sum would bring maker and reader together.
TEST(Segment, AReaderOfComputedPositionsStaysApartFromTheMaker) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Int[8, 6] contiguity(t, t)\n"
                          "tv2: Float[8, 6] = exp(tv0)\n"
                          "tv3: Float[8, 6] = gather(tv2, tv1, 1)\n"
                          "tv4: Float[8, 6] = add(tv2, tv3)\n"
                          "output tv4\n"),
            "kernel [l0, l1] tv2[l0, l1] = exp(tv0[l0, l1]) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = gather(tv2[l0, .], tv1[l0, l1]); tv4[l0, l1] = "
            "add(tv2[l0, l1], tv3[l0, l1]) -> tv4\n");
}

TEST(Segment, ASelectionAloneIsAView) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[6] = select(tv0, 2, 0)\n"
                          "output tv1\n"),
            "call tv1 = select(tv0) -> tv1\n");
}

// The position is not the kernel's to write: the library needs it after the kernel has run.
TEST(Segment, ASelectionThatOthersReadHasItsPositionInMemory) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Int32[] contiguity()\n"
                          "tv2: Int[8, 6] = argsort(tv0, 0, False, False)\n"
                          "tv3: Int[] = cast(tv1, Int)\n"
                          "tv4: Int[6] = select(tv2, tv3, 0)\n"
                          "tv5: Int[6] = neg(tv4)\n"
                          "output tv4\n"
                          "output tv5\n"),
            "call tv2 = argsort(tv0) -> tv2\n"
            "call tv3 = cast(tv1) -> tv3\n"
            "kernel [l0] tv4[l0] = select(tv2[., l0], tv3[]); tv5[l0] = neg(tv4[l0]) -> tv5\n"
            "call tv4 = select(tv2, tv3) -> tv4\n");
}

TEST(Segment, WhatACatReadsOnTheWayIsPartOfItsKernel) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, 3] = slice(tv0, [0, 3], [8, 6], None, False)\n"
                    "tv2: Float[8, 3] = neg(tv1)\n"
                    "tv3: Float[8, 3] = slice(tv0, [0, 0], [8, 3], None, False)\n"
                    "tv4: Float[8, 6] = cat([tv2, tv3], 1, False)\n"
                    "tv5: Float[8, 6] = mul(tv0, tv4)\n"
                    "output tv5\n"),
      "kernel [l0, l1] tv4[l0, l1] = cat(tv2[l0, l1], tv3[l0, l1]); tv5[l0, l1] = mul(tv0[l0, l1], "
      "tv4[l0, l1]) -> tv5\n");
}

// Elsewhere it is needed as well, or has other sizes: it is made once, in memory.
TEST(Segment, WhatACatReadsLiesInMemoryOtherwise) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, 6] = neg(tv0)\n"
                    "tv2: Float[8, 6] = exp(tv0)\n"
                    "tv3: Float[16, 6] = cat([tv1, tv2], 0, False)\n"
                    "tv4: Float[16, 6] = abs(tv3)\n"
                    "output tv1\n"
                    "output tv4\n"),
      "kernel [l0, l1] tv1[l0, l1] = neg(tv0[l0, l1]); tv2[l0, l1] = exp(tv0[l0, l1]) -> tv1, "
      "tv2\n"
      "kernel [l0, l1] tv3[l0, l1] = cat(tv1[l0, l1], tv2[l0, l1]); tv4[l0, l1] = abs(tv3[l0, "
      "l1]) -> tv4\n");
}

TEST(Segment, APadOrACatAloneIsALibraryCall) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 3] = slice(tv0, [0, 3], [8, 6], None, False)\n"
                          "tv2: Float[8, 9] = cat([tv0, tv1], 1, False)\n"
                          "tv3: Float[8, 8] = pad(tv0, [1, 1], None)\n"
                          "output tv2\n"
                          "output tv3\n"),
            "call tv1 = slice(tv0) -> tv1\n"
            "call tv2 = cat(tv0, tv1) -> tv2\n"
            "call tv3 = pad(tv0) -> tv3\n");
}

TEST(Segment, ACatOfManyIsTheLibrarys) {
  const auto joined = [](const std::string& parts, int64_t columns) {
    const std::string sizes = "Float[8, " + std::to_string(columns) + "]";
    return groupsOf(kX + "tv1: " + sizes + " = cat([" + parts + "], 1, False)\n" + "tv2: " + sizes +
                    " = neg(tv1)\n" + "output tv2\n");
  };
  EXPECT_EQ(joined("tv0, tv0, tv0, tv0", 24).find("call"), std::string::npos);
  EXPECT_EQ(joined("tv0, tv0, tv0, tv0, tv0", 30).find("call tv1 = cat("), 0);
}

// Else one kernel would compute a chain of any length.
TEST(Segment, ACatComputesNoMoreThanAFewCallsOnTheWay) {
  std::string text = kX;
  for (int i = 0; i < 40; ++i) {
    text += "tv" + std::to_string(i + 1) + ": Float[8, 6] = neg(tv" + std::to_string(i) + ")\n";
  }
  text +=
      "tv41: Float[8, 12] = cat([tv40, tv0], 1, False)\n"
      "tv42: Float[8, 12] = neg(tv41)\n"
      "output tv42\n";
  const std::string groups = groupsOf(text);
  const size_t second = groups.find("\nkernel");
  ASSERT_NE(second, std::string::npos) << groups;
  EXPECT_NE(groups.find("tv24[l0, l1] = neg(tv23[l0, l1]) -> tv24\n"), std::string::npos) << groups;
  EXPECT_EQ(groups.find("tv25"), std::string::npos) << groups;
}

// Where the other reduced loop has no elements, the kernel would never write it.
TEST(Segment, AResultThatLacksOneOfTwoReducedLoopsIsMadeOutside) {
  EXPECT_EQ(groupsOf(kX + "input tv1: Float[b1, 6] contiguity(n, t)\n"
                          "tv2: Float[8, 6] = neg(tv0)\n"
                          "tv3: Float[] = sum(tv2, [0, 1], False, Null)\n"
                          "tv4: Float[8, 6] = add(tv2, tv1)\n"
                          "tv5: Float[b1, 6] = min(tv1, [0], True, Null)\n"
                          "output tv3\n"
                          "output tv4\n"
                          "output tv5\n"),
            "call tv5 = min(tv1) -> tv5\n"
            "kernel [l0: reduced, l1: reduced] tv2[l0, l1] = neg(tv0[l0, l1]); tv3[] = "
            "sum(tv2[l0, l1]); tv4[l0, l1] = add(tv2[l0, l1], tv1[., l1]) -> tv3, tv4\n");
}

TEST(Segment, ASegmentSetEndsItsKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[8, 6] = segment_set(tv1)\n"
                          "tv3: Int[8, 6] = neg(tv2)\n"
                          "output tv3\n"),
            "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0, l1] = segment_set(tv1[l0, "
            "l1]) -> tv2\n"
            "kernel [l0, l1] tv3[l0, l1] = neg(tv2[l0, l1]) -> tv3\n");
}

TEST(Segment, ViewsAloneAreNoKernel) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[6, 8] = permute(tv0, [1, 0])\n"
                          "output tv1\n"),
            "call tv1 = permute(tv0) -> tv1\n");
}

TEST(Segment, WhatNoResultNeedsIsLeftOut) {
  EXPECT_EQ(groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                          "tv2: Float[8, 6] = neg(tv0)\n"
                          "output tv2\n"),
            "kernel [l0, l1] tv2[l0, l1] = neg(tv0[l0, l1]) -> tv2\n");
}

TEST(Segment, AKernelHasAtMostSoManyCalls) {
  EXPECT_EQ(
      groupsOf(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                    "tv2: Float[8, 6] = neg(tv1)\n"
                    "tv3: Float[8, 6] = abs(tv2)\n"
                    "output tv3\n",
               {.maxCalls = 2}),
      "kernel [l0, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0, l1] = neg(tv1[l0, l1]) -> tv2\n"
      "kernel [l0, l1] tv3[l0, l1] = abs(tv2[l0, l1]) -> tv3\n");
}

// A kernel would write such a view once an element of the loop that it lacks, and not at all where that loop has none.
TEST(Segment, AResultThatLacksALoopOfTheKernelIsMadeOutside) {
  EXPECT_EQ(groupsOf("input tv0: Float[8, 0] contiguity(t, t)\n"
                     "input tv1: Float[8, b1] contiguity(t, n)\n"
                     "tv2: Float[8, 0] = mul(tv0, tv1)\n"
                     "tv3: Float[8] = squeeze(tv1, [1], False)\n"
                     "output tv2\n"
                     "output tv3\n"),
            "call tv3 = squeeze(tv1) -> tv3\n"
            "kernel [l0, l1] tv2[l0, l1] = mul(tv0[l0, l1], tv1[l0, .]) -> tv2\n");
}

}  // namespace
}  // namespace meshfuse
