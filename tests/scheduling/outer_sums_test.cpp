// Sums of columns in kernels that reduce rows.
#include "meshfuse/scheduling/outer_sums.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "group_text.h"

namespace meshfuse {
namespace {

std::string joined(const std::string& text) {
  const Fusion fusion = parse(text, [](std::string_view name) { return findOp(name); });
  const std::vector<Group> groups = joinOuterSums(fusion, segment(fusion, {}), {});
  EXPECT_EQ(groupViolations(fusion, groups), std::vector<std::string>()) << text;
  std::string result;
  for (const Group& group : groups) {
    result += toText(fusion, group) + "\n";
  }
  return result;
}

void expectUnchanged(const std::string& text) { EXPECT_EQ(joined(text), groupsOf(text)) << text; }

const std::string kRows = kX +
                          "tv1: Float[8, b1] = sum(tv0, [1], True, Null)\n"
                          "tv2: Float[8, 6] = mul(tv0, tv1)\n";

TEST(OuterSums, JoinTheKernelThatMakesWhatTheyTake) {
  EXPECT_EQ(joined(kRows + "tv3: Float[6] = sum(tv2, [0], False, Null)\n"
                           "output tv3\n"),
            "kernel [l0, l1: reduced] tv1[l0, .] = sum(tv0[l0, l1]); tv2[l0, l1] = mul(tv0[l0, "
            "l1], tv1[l0, .]); "
            "tv3[l1] = sum(tv2[l0, l1]) -> tv3\n");
}

TEST(OuterSums, JoinAKernelThatReadsTheSame) {
  EXPECT_EQ(joined(kRows + "tv3: Float[6] = sum(tv0, [0], False, Null)\n"
                           "output tv2\n"
                           "output tv3\n"),
            "kernel [l0, l1: reduced] tv1[l0, .] = sum(tv0[l0, l1]); tv2[l0, l1] = mul(tv0[l0, "
            "l1], tv1[l0, .]); "
            "tv3[l1] = sum(tv0[l0, l1]) -> tv2, tv3\n");
}

TEST(OuterSums, LeaveWhatFollowsFromThem) {
  EXPECT_EQ(joined(kRows + "tv3: Float[6] = sum(tv2, [0], False, Null)\n"
                           "tv4: Float[6] = tanh(tv3)\n"
                           "output tv4\n"),
            "kernel [l0, l1: reduced] tv1[l0, .] = sum(tv0[l0, l1]); tv2[l0, l1] = mul(tv0[l0, "
            "l1], tv1[l0, .]); "
            "tv3[l1] = sum(tv2[l0, l1]) -> tv3\n"
            "kernel [l0] tv4[l0] = tanh(tv3[l0]) -> tv4\n");
}

TEST(OuterSums, StayWhereRowsNeedThem) {
  expectUnchanged(kX +
                  "tv1: Float[b1, 6] = sum(tv0, [0], True, Null)\n"
                  "tv2: Float[8, 6] = sub(tv0, tv1)\n"
                  "tv3: Float[8] = sum(tv2, [1], False, Null)\n"
                  "output tv3\n");
}

TEST(OuterSums, StayWhereNothingIsShared) {
  expectUnchanged(kRows +
                  "input tv3: Float[8, 6] contiguity(t, t)\n"
                  "tv4: Float[6] = sum(tv3, [0], False, Null)\n"
                  "output tv2\n"
                  "output tv4\n");
}

TEST(OuterSums, StayWhereTheyAreNoSumsOfFloats) {
  expectUnchanged(kRows +
                  "tv3: Float[6] = max(tv2, [0], False, Null)\n"
                  "output tv3\n");
  expectUnchanged(
      "input tv0: Int[8, 6] contiguity(t, t)\n"
      "tv1: Int[8] = sum(tv0, [1], False, Null)\n"
      "tv2: Int[6] = sum(tv0, [0], False, Null)\n"
      "output tv1\n"
      "output tv2\n");
}

// A kernel goes along a scan's row in order, and leaves parts of other sums to nobody.
TEST(OuterSums, StayOutOfScans) {
  expectUnchanged(kX +
                  "tv1: Float[8, 6] = cumsum(tv0, 1, None)\n"
                  "tv2: Float[6] = sum(tv1, [0], False, Null)\n"
                  "output tv1\n"
                  "output tv2\n");
}

}  // namespace
}  // namespace meshfuse
