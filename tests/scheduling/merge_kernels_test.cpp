// Groups before and after as text: which small kernels share a launch.
#include "meshfuse/scheduling/merge_kernels.h"

#include <gtest/gtest.h>

#include "meshfuse/scheduling/recompute.h"
#include "meshfuse/scheduling/violations.h"
#include "scheduling/group_text.h"

namespace meshfuse {
namespace {

struct Merged {
  std::string groups;
  std::vector<std::string> reasons;
};

Merged merged(const std::string& text, const CostModel& costs = {}) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  Merged result;
  const std::vector<Group> groups =
      mergeKernels(fusion, segment(fusion, costs), costs, &result.reasons);
  EXPECT_EQ(groupViolations(fusion, groups), std::vector<std::string>());
  for (const Group& group : groups) {
    result.groups += toText(fusion, group) + "\n";
  }
  return result;
}

void expectUnchanged(const std::string& text, const CostModel& costs = {}) {
  EXPECT_EQ(merged(text, costs).groups, groupsOf(text, costs));
}

const std::string kInputs = kX + "input tv1: Float[8, 6] contiguity(t, t)\n";
const std::string kTwo = kInputs +
                         "tv2: Float[8, 6] = exp(tv0)\n"
                         "tv3: Float[8, 6] = neg(tv1)\n"
                         "output tv2\n"
                         "output tv3\n";

TEST(MergeKernels, TwoOfTheSameLoopsShareALaunch) {
  const Merged result = merged(kTwo);
  EXPECT_EQ(result.groups,
            "kernel [l0, l1] tv2[l0, l1] = exp(tv0[l0, l1]); tv3[l0, l1] = neg(tv1[l0, l1]) "
            "-> tv2, tv3\n");
  // 2 * 192 bytes at 2 additions each, and one addition for each of 48 elements.
  EXPECT_EQ(result.reasons,
            std::vector<std::string>{"the kernel that makes tv3 joins the one that makes tv2: 816 "
                                     "additions of at most 81920, 4 tensors of at most 24"});
}

TEST(MergeKernels, ALaunchThatCostsNothingIsMade) { expectUnchanged(kTwo, {.launchWork = 0}); }

TEST(MergeKernels, AKernelOfManyTensorsIsFull) { expectUnchanged(kTwo, {.maxMergedTensors = 3}); }

TEST(MergeKernels, LoopsOfOtherSizesStayApart) {
  expectUnchanged(kX +
                  "input tv1: Float[6, 8] contiguity(t, t)\n"
                  "tv2: Float[8, 6] = exp(tv0)\n"
                  "tv3: Float[6, 8] = neg(tv1)\n"
                  "output tv2\n"
                  "output tv3\n");
}

TEST(MergeKernels, AKernelThatNeedsTheOtherRunsAfterIt) {
  const std::string text = kInputs +
                           "tv2: Float[8, 6] = exp(tv0)\n"
                           "tv3: Int[8, 6] = argsort(tv2, 1, False, False)\n"
                           "tv4: Int[8, 6] = neg(tv3)\n"
                           "output tv4\n";
  expectUnchanged(text);
  EXPECT_EQ(merged(text).reasons,
            std::vector<std::string>{
                "the kernel that makes tv4 does not join the one that makes tv2: 1584 additions of "
                "at most 81920, 4 tensors of at most 24, and it needs what is made there or "
                "later"});
}

// It is brought before the call that stands between them.
TEST(MergeKernels, AKernelRunsWhereTheFirstOneDid) {
  EXPECT_EQ(merged(kInputs + "tv2: Float[8, 6] = exp(tv0)\n"
                             "tv3: Int[8, 6] = argsort(tv2, 1, False, False)\n"
                             "tv4: Float[8, 6] = neg(tv1)\n"
                             "output tv3\n"
                             "output tv4\n")
                .groups,
            "kernel [l0, l1] tv2[l0, l1] = exp(tv0[l0, l1]); tv4[l0, l1] = neg(tv1[l0, l1]) "
            "-> tv2, tv4\n"
            "call tv3 = argsort(tv2) -> tv3\n");
}

TEST(MergeKernels, ReductionsStayByThemselves) {
  expectUnchanged(kInputs +
                  "tv2: Float[8] = sum(tv0, [1], False, Null)\n"
                  "tv3: Float[8] = sum(tv1, [1], False, Null)\n"
                  "output tv2\n"
                  "output tv3\n");
}

TEST(MergeKernels, KernelsThatMayThrowStayByThemselves) {
  expectUnchanged(
      "input tv0: Int[6] contiguity(t)\n"
      "input tv1: Int[6] contiguity(t)\n"
      "tv2: Int[6] = neg(tv0)\n"
      "tv3: Int[6] = div(7, tv1)\n"
      "output tv2\n"
      "output tv3\n");
}

TEST(MergeKernels, AMadeSegmentStays) {
  expectUnchanged(kInputs +
                  "tv2: Float[8, 6] = segment_set(tv0)\n"
                  "tv3: Float[8, 6] = neg(tv1)\n"
                  "output tv2\n"
                  "output tv3\n");
}

TEST(MergeKernels, LoopsThatAreDividedOtherwiseStayApart) {
  const std::string mesh = " @ DeviceMesh{0 1} cpu ";
  expectUnchanged("input tv0: Float[8, 6]" + mesh + "(S(0)) contiguity(t, t)\n" +
                  "input tv1: Float[8, 6]" + mesh + "(R) contiguity(t, t)\n" + "tv2: Float[8, 6]" +
                  mesh + "(S(0)) = exp(tv0)\n" + "tv3: Float[8, 6]" + mesh + "(R) = neg(tv1)\n" +
                  "output tv2\n"
                  "output tv3\n");
}

// Both kernels compute the maximum for themselves; in one kernel it is computed once.
TEST(MergeKernels, WhatBothComputeIsComputedOnce) {
  const std::string text = kInputs +
                           "input tv2: Float[8, 6] contiguity(t, t)\n"
                           "tv3: Float[8, 6] = lgamma(tv0)\n"
                           "tv4: Int[8, 6] = argsort(tv3, 0, False, True)\n"
                           "tv5: Int[8, 6] = argsort(tv3, 1, False, True)\n"
                           "tv6: Bool[8, 6] = lt(tv0, 2.0)\n"
                           "tv7: Int[8, 6] = maximum(tv6, 1)\n"
                           "tv8: Float[8, 6] = where(tv6, tv4, tv1)\n"
                           "tv9: Float[8, 6] = truediv(tv7, tv5)\n"
                           "tv10: Float[8, 6] = threshold(tv8, tv7, tv2)\n"
                           "output tv9\n"
                           "output tv10\n";
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups =
      mergeKernels(fusion, recompute(fusion, segment(fusion, {}), {}), {});
  EXPECT_EQ(groupViolations(fusion, groups), std::vector<std::string>());
  size_t maxima = 0;
  for (const Group& group : groups) {
    for (const GroupCall& call : group.calls) {
      maxima += fusion.expr(call.expr).op->name == "maximum" ? 1 : 0;
    }
  }
  EXPECT_EQ(maxima, 1U);
  EXPECT_EQ(groups.size(), 4U);
}

}  // namespace
}  // namespace meshfuse
