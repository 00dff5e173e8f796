// Groups before and after as text: which values are computed again instead of written and read.
#include "meshfuse/scheduling/recompute.h"

#include <gtest/gtest.h>

#include "meshfuse/scheduling/violations.h"
#include "scheduling/group_text.h"

namespace meshfuse {
namespace {

struct Recomputed {
  std::string groups;
  std::vector<std::string> reasons;
};

Recomputed recomputed(const std::string& text, const CostModel& costs = {}) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  Recomputed result;
  const std::vector<Group> groups =
      recompute(fusion, segment(fusion, costs), costs, &result.reasons);
  EXPECT_EQ(groupViolations(fusion, groups), std::vector<std::string>());
  for (const Group& group : groups) {
    result.groups += toText(fusion, group) + "\n";
  }
  return result;
}

void expectUnchanged(const std::string& text, const CostModel& costs = {}) {
  EXPECT_EQ(recomputed(text, costs).groups, groupsOf(text, costs));
}

const std::string kHalves = "input tv0: BFloat16[8, 6] contiguity(t, t)\n";
/// Sums of rows and of columns of what the first call makes.
const std::string kSums =
    "tv2: Float[8] = sum(tv1, [1], False, Null)\n"
    "tv3: Float[6] = sum(tv1, [0], False, Null)\n"
    "output tv2\n"
    "output tv3\n";

TEST(Recompute, ACastIsMadeByEachKernelThatReadsIt) {
  const Recomputed result = recomputed(kHalves + "tv1: Float[8, 6] = cast(tv0, Float)\n" + kSums);
  EXPECT_EQ(result.groups,
            "kernel [l0, l1: reduced] tv1[l0, l1] = cast(tv0[l0, l1]); tv2[l0] = sum(tv1[l0, l1]) "
            "-> tv2\n"
            "kernel [l0: reduced, l1] tv1[l0, l1] = cast(tv0[l0, l1]); tv3[l1] = sum(tv1[l0, l1]) "
            "-> tv3\n");
  EXPECT_EQ(result.reasons,
            std::vector<std::string>{"tv1 is computed again where it is read, by kernels: 1; an "
                                     "element takes 2 additions and saves 6 bytes, worth 12"});
}

// What is saved is one write of 4 bytes: the operand is read in the place of the value.
TEST(Recompute, WhatTakesLongerThanMovingItIsRead) {
  const std::string text = kX + "tv1: Float[8, 6] = exp(tv0)\n" + kSums;
  expectUnchanged(text);
  EXPECT_EQ(recomputed(text).reasons,
            std::vector<std::string>{"tv1 is not computed again where it is read, by kernels: 1; "
                                     "an element takes 24 additions and saves 4 bytes, worth 8"});
  // On a machine of slow memory it is the other way.
  EXPECT_EQ(recomputed(text, {.workPerByte = 7}).groups,
            "kernel [l0, l1: reduced] tv1[l0, l1] = exp(tv0[l0, l1]); tv2[l0] = sum(tv1[l0, l1]) "
            "-> tv2\n"
            "kernel [l0: reduced, l1] tv1[l0, l1] = exp(tv0[l0, l1]); tv3[l1] = sum(tv1[l0, l1]) "
            "-> tv3\n");
}

TEST(Recompute, AnOperandMoreIsReadForIt) {
  const std::string text = kX +
                           "input tv1: Float[8, 6] contiguity(t, t)\n"
                           "tv2: Float[8, 6] = add(tv0, tv1)\n"
                           "tv3: Float[8] = sum(tv2, [1], False, Null)\n"
                           "tv4: Float[6] = sum(tv2, [0], False, Null)\n"
                           "output tv3\n"
                           "output tv4\n";
  expectUnchanged(text);
  EXPECT_EQ(recomputed(text).reasons,
            std::vector<std::string>{"tv2 is not computed again where it is read, by kernels: 1; "
                                     "an element takes 2 additions and saves 0 bytes, worth 0"});
}

// The maximum of each column reads the operand anyway.
TEST(Recompute, AnOperandThatAReaderHasCostsNothing) {
  const Recomputed result = recomputed(kX +
                                       "tv1: Float[8, 6] = mul(tv0, 2.0)\n"
                                       "tv2: Float[8] = sum(tv1, [1], False, Null)\n"
                                       "tv3: Float[b1, 6] = max(tv0, [0], True, Null)\n"
                                       "tv4: Float[8, 6] = sub(tv1, tv3)\n"
                                       "tv5: Float[6] = sum(tv4, [0], False, Null)\n"
                                       "output tv2\n"
                                       "output tv5\n");
  EXPECT_EQ(
      result.groups,
      "kernel [l0, l1: reduced] tv1[l0, l1] = mul(tv0[l0, l1]); tv2[l0] = sum(tv1[l0, l1]) "
      "-> tv2\n"
      "kernel [l0: reduced, l1] tv1[l0, l1] = mul(tv0[l0, l1]); tv3[., l1] = max(tv0[l0, "
      "l1]); tv4[l0, l1] = sub(tv1[l0, l1], tv3[., l1]); tv5[l1] = sum(tv4[l0, l1]) -> tv5\n");
  EXPECT_EQ(result.reasons,
            std::vector<std::string>{"tv1 is computed again where it is read, by kernels: 1; an "
                                     "element takes 2 additions and saves 8 bytes, worth 16"});
}

TEST(Recompute, AKernelThatGaveNothingElseIsGone) {
  EXPECT_EQ(recomputed(kHalves +
                           "tv1: Float[8, 6] = cast(tv0, Float)\n"
                           "tv2: Float[8, 6] = segment_set(tv1)\n"
                           "output tv2\n" +
                           std::string("tv3: Float[8] = sum(tv1, [1], False, Null)\n"
                                       "output tv3\n"),
                       {})
                .groups,
            "kernel [l0, l1] tv1[l0, l1] = cast(tv0[l0, l1]); tv2[l0, l1] = segment_set(tv1[l0, "
            "l1]) -> tv2\n"
            "kernel [l0, l1: reduced] tv1[l0, l1] = cast(tv0[l0, l1]); "
            "tv3[l0] = sum(tv1[l0, l1]) -> tv3\n");
}

TEST(Recompute, ResultsAreWritten) {
  expectUnchanged(kHalves + "tv1: Float[8, 6] = cast(tv0, Float)\noutput tv1\n" + kSums);
}

TEST(Recompute, WhatALibraryReadsIsWritten) {
  expectUnchanged(kHalves +
                  "tv1: Float[8, 6] = cast(tv0, Float)\n"
                  "tv2: Float[8] = sum(tv1, [1], False, Null)\n"
                  "tv3: Int[8, 6] = argsort(tv1, 0, False, False)\n"
                  "output tv2\n"
                  "output tv3\n");
}

TEST(Recompute, DrawsAndReductionsAreMadeOnce) {
  expectUnchanged(kX + "tv1: Float[8, 6] = rand_like(tv0)\n" + kSums, {.workPerByte = 1000});
  expectUnchanged(kX + "tv1: Float[8] = sum(tv0, [1], False, Null)\n"
                       "tv2: Float[] = sum(tv1, [0], False, Null)\n"
                       "output tv2\n",
                  {.workPerByte = 1000});
}

// The second kernel would divide again where the first has thrown.
TEST(Recompute, DivisionsThatMayThrowAreMadeOnce) {
  expectUnchanged(
      "input tv0: Int[8, 6] contiguity(t, t)\n"
      "tv1: Int[8, 6] = div(7, tv0)\n"
      "tv2: Int[8] = sum(tv1, [1], False, Null)\n"
      "tv3: Int[6] = sum(tv1, [0], False, Null)\n"
      "output tv2\n"
      "output tv3\n",
      {.workPerByte = 1000});
}

TEST(Recompute, AMadeSegmentStays) {
  expectUnchanged(kHalves +
                  "tv1: BFloat16[8, 6] = segment_set(tv0)\n"
                  "tv2: Float[8, 6] = cast(tv1, Float)\n"
                  "output tv2\n");
}

}  // namespace
}  // namespace meshfuse
