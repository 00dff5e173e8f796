// Fusions as text in, cleaned fusions as text out.
#include "meshfuse/scheduling/clean.h"

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/verify.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

const std::string kX = "input tv0: Float[8, 6] contiguity(t, t)\n";

std::string cleaned(const std::string& text) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  const Fusion result = clean(fusion);
  EXPECT_EQ(violations(result), std::vector<std::string>());
  return print(result);
}

void expectUnchanged(const std::string& text) { EXPECT_EQ(cleaned(text), text); }

TEST(Clean, CallsThatNoResultNeedsAreGone) {
  EXPECT_EQ(cleaned(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                         "tv2: Float[8, 6] = rand_like(tv1)\n"
                         "tv3: Float[8, 6] = neg(tv0)\n"
                         "output tv3\n"),
            kX + "tv3: Float[8, 6] = neg(tv0)\n"
                 "output tv3\n");
}

TEST(Clean, EqualCallsOfEqualOperandsAreOne) {
  EXPECT_EQ(cleaned(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                         "tv2: Float[8, 6] = exp(tv0)\n"
                         "tv3: Float[8, 6] = neg(tv1)\n"
                         "tv4: Float[8, 6] = neg(tv2)\n"
                         "tv5: Float[8, 6] = add(tv3, tv4)\n"
                         "output tv5\n"),
            kX + "tv1: Float[8, 6] = exp(tv0)\n"
                 "tv3: Float[8, 6] = neg(tv1)\n"
                 "tv5: Float[8, 6] = add(tv3, tv3)\n"
                 "output tv5\n");
}

TEST(Clean, ACallOfSeveralResultsIsOneAsWell) {
  EXPECT_EQ(cleaned(kX + "tv1: Float[8], tv2: Float[8] = var_mean(tv0, [1], 1, False)\n"
                         "tv3: Float[8], tv4: Float[8] = var_mean(tv0, [1], 1, False)\n"
                         "tv5: Float[8] = add(tv1, tv4)\n"
                         "output tv5\n"
                         "output tv3\n"),
            kX + "tv3: Float[8], tv2: Float[8] = var_mean(tv0, [1], 1, False)\n"
                 "tv5: Float[8] = add(tv3, tv2)\n"
                 "output tv5\n"
                 "output tv3\n");
}

// Each has memory of its own, which its owner may write into.
TEST(Clean, TwoResultsStayTwo) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = exp(tv0)\n"
                  "tv2: Float[8, 6] = exp(tv0)\n"
                  "output tv1\n"
                  "output tv2\n");
}

TEST(Clean, WhatIsWrittenIntoAnInputIsNoOtherResult) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = exp(tv0)\n"
                  "tv2: Float[8, 6] = exp(tv0)\n"
                  "output tv1\n"
                  "output tv2 into tv0\n");
}

TEST(Clean, RandomDrawsAreNeverOne) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = rand_like(tv0)\n"
                  "tv2: Float[8, 6] = rand_like(tv0)\n"
                  "tv3: Float[8, 6] = sub(tv1, tv2)\n"
                  "output tv3\n");
}

TEST(Clean, ZerosOfBothSignsAndNansAreNumbersOfTheirOwn) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = mul(tv0, 0.0)\n"
                  "tv2: Float[8, 6] = mul(tv0, -0.0)\n"
                  "tv3: Float[8, 6] = mul(tv0, 0)\n"
                  "tv4: Float[8, 6] = add(tv1, tv2)\n"
                  "tv5: Float[8, 6] = add(tv4, tv3)\n"
                  "output tv5\n");
  EXPECT_EQ(cleaned(kX + "tv1: Float[8, 6] = mul(tv0, float(\"nan\"))\n"
                         "tv2: Float[8, 6] = mul(tv0, float(\"nan\"))\n"
                         "tv3: Float[8, 6] = add(tv1, tv2)\n"
                         "output tv3\n"),
            kX + "tv1: Float[8, 6] = mul(tv0, float(\"nan\"))\n"
                 "tv3: Float[8, 6] = add(tv1, tv1)\n"
                 "output tv3\n");
}

TEST(Clean, ACastToTheTypeThatIsThereIsGoneWhereItClosesNoGaps) {
  EXPECT_EQ(cleaned(kX + "tv1: Float[8, 6] = exp(tv0)\n"
                         "tv2: Float[8, 6] = cast(tv1, Float)\n"
                         "output tv2\n"),
            kX + "tv2: Float[8, 6] = exp(tv0)\n"
                 "output tv2\n");
  // The input may have any strides, and its cast does not.
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = cast(tv0, Float)\n"
                  "tv2: Float[8, 6] = exp(tv1)\n"
                  "output tv2\n");
}

TEST(Clean, RoundingThroughFewerBitsStays) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = exp(tv0)\n"
                  "tv2: BFloat16[8, 6] = cast(tv1, BFloat16)\n"
                  "tv3: Float[8, 6] = cast(tv2, Float)\n"
                  "output tv3\n");
}

TEST(Clean, ViewsThatShowWhatTheyAreOfAreGone) {
  EXPECT_EQ(cleaned(kX + "tv1: Float[8, 6] = permute(tv0, [0, 1])\n"
                         "tv2: Float[8, 6] = reshape(tv1, [8, 6])\n"
                         "tv3: Float[8, 6] = expand(tv2, [8, 6])\n"
                         "tv4: Float[8, 6] = broadcast(tv3, [0, 0])\n"
                         "tv5: Float[8, 6] = exp(tv4)\n"
                         "output tv5\n"),
            kX + "tv5: Float[8, 6] = exp(tv0)\n"
                 "output tv5\n");
}

TEST(Clean, AViewThatIsAResultIsOne) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = permute(tv0, [0, 1])\n"
                  "output tv1\n");
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = exp(tv0)\n"
                  "tv2: Float[8, 6] = permute(tv1, [0, 1])\n"
                  "output tv1\n"
                  "output tv2\n");
}

// A reshape gives a dimension of one element another stride.
TEST(Clean, ViewsOfDimensionsWithoutTwoElementsStay) {
  expectUnchanged(
      "input tv0: Float[8, b1] contiguity(t, n)\n"
      "tv1: Float[8, b1] = exp(tv0)\n"
      "tv2: Float[8, b1] = reshape(tv1, [8, 1])\n"
      "output tv2\n");
  expectUnchanged(
      "input tv0: Float[b1, b1] contiguity(n, n)\n"
      "tv1: Float[b1, b1] = exp(tv0)\n"
      "tv2: Float[b1, b1] = permute(tv1, [1, 0])\n"
      "output tv2\n");
}

// A kernel has a view for nothing; what is computed with equal views is equal.
TEST(Clean, EqualViewsStayAndAreSeenThrough) {
  EXPECT_EQ(cleaned("input tv0: Float[6] contiguity(t)\n"
                    "input tv1: Float[8, 6] contiguity(t, t)\n"
                    "tv2: Float[b1, 6] = broadcast(tv0, [1, 0])\n"
                    "tv3: Float[b1, 6] = broadcast(tv0, [1, 0])\n"
                    "tv4: Float[8, 6] = add(tv1, tv2)\n"
                    "tv5: Float[8, 6] = mul(tv1, tv3)\n"
                    "tv6: Float[8, 6] = add(tv1, tv3)\n"
                    "output tv4\n"
                    "output tv5\n"
                    "tv7: Float[8, 6] = neg(tv6)\n"
                    "output tv7\n"),
            "input tv0: Float[6] contiguity(t)\n"
            "input tv1: Float[8, 6] contiguity(t, t)\n"
            "tv2: Float[b1, 6] = broadcast(tv0, [1, 0])\n"
            "tv3: Float[b1, 6] = broadcast(tv0, [1, 0])\n"
            "tv4: Float[8, 6] = add(tv1, tv2)\n"
            "tv5: Float[8, 6] = mul(tv1, tv3)\n"
            "tv7: Float[8, 6] = neg(tv4)\n"
            "output tv4\n"
            "output tv5\n"
            "output tv7\n");
}

TEST(Clean, NumbersOfNumbersAreComputed) {
  EXPECT_EQ(cleaned(kX + "constant c0: Int = 9223372036854775807\n"
                         "c1: Int i0 = add(c0, 1)\n"
                         "tv1: Float[8, 6] = mul(tv0, c1)\n"
                         "output tv1\n"),
            kX + "constant c1: Int = -9223372036854775808\n"
                 "tv1: Float[8, 6] = mul(tv0, c1)\n"
                 "output tv1\n");
}

TEST(Clean, ADivisionByZeroStaysForTheCallToRefuse) {
  const std::string text = kX +
                           "constant c0: Int = 0\n"
                           "c1: Int i0 = div(1, c0)\n"
                           "tv1: Float[8, 6] = mul(tv0, c1)\n"
                           "output tv1\n";
  EXPECT_EQ(cleaned(text), text);
  expectUnchanged(
      "tv0: Int[4] = full([4], 1, Int)\n"
      "tv1: Int[4] = full([4], 0, Int)\n"
      "tv2: Int[4] = div(tv0, tv1)\n"
      "output tv2\n");
}

TEST(Clean, TensorsOfOneWholeNumberAreComputed) {
  EXPECT_EQ(cleaned("tv0: Int[4] = full([4], 9223372036854775807, Int)\n"
                    "tv1: Int[4] = add(tv0, 2)\n"
                    "tv2: Bool[4] = lt(tv1, tv0)\n"
                    "tv3: Bool[4] = logical_not(tv2)\n"
                    "output tv3\n"),
            "tv2: Bool[4] = full([4], True, Bool)\n"
            "tv3: Bool[4] = logical_not(tv2)\n"
            "output tv3\n");
}

// Their last bits are the kernel's.
TEST(Clean, TensorsOfOneFloatAreLeft) {
  expectUnchanged(
      "tv0: Float[4] = full([4], 0.1, Float)\n"
      "tv1: Float[4] = exp(tv0)\n"
      "output tv1\n");
}

}  // namespace
}  // namespace meshfuse
