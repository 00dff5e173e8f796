// What is wrong with groups and schedules that were broken by hand; segment() and chooseSchedule() give right ones.
#include "meshfuse/scheduling/violations.h"

#include <gtest/gtest.h>

#include "scheduling/group_text.h"

namespace meshfuse {
namespace {

using Texts = std::vector<std::string>;

/// A row softmax and a sum over its columns: two kernels.
const std::string kTwoKernels = kX +
                                "tv1: Float[8, b1] = sum(tv0, [1], True, Null)\n"
                                "tv2: Float[8, 6] = sub(tv0, tv1)\n"
                                "tv3: Float[6] = sum(tv2, [0], False, Null)\n"
                                "output tv3\n";

class GroupViolations : public ::testing::Test {
 protected:
  Fusion fusion_ = parse(kTwoKernels, [](std::string_view name) { return findOp(name); });
  std::vector<Group> groups_ = segment(fusion_);

  Texts found() const { return groupViolations(fusion_, groups_); }
};

TEST_F(GroupViolations, RightGroupsHaveNone) {
  ASSERT_EQ(groups_.size(), 2U);
  EXPECT_EQ(found(), Texts());
}

TEST_F(GroupViolations, AGroupReadsWhatIsThere) {
  std::swap(groups_[0], groups_[1]);
  EXPECT_EQ(found(), Texts{"'tv2' is read by group 0 before it is made"});
}

TEST_F(GroupViolations, AResultIsGiven) {
  groups_.pop_back();
  EXPECT_EQ(found(), Texts{"'tv3' is a result and no group gives it"});
}

TEST_F(GroupViolations, AValueIsGivenOnce) {
  groups_.push_back(groups_.back());
  EXPECT_EQ(found(), Texts{"'tv3' is given twice"});
}

TEST_F(GroupViolations, ACallIsOnceInAGroup) {
  groups_[1].calls.push_back(groups_[1].calls[0]);
  EXPECT_EQ(found(), Texts{"'tv3' is made twice in group 1"});
}

TEST_F(GroupViolations, AGroupHasTheCallsOfWhatItGives) {
  groups_[0].outputs.push_back(ValId{3});
  EXPECT_EQ(found(),
            (Texts{"'tv3' is given by group 0, which lacks its call", "'tv3' is given twice"}));
}

TEST_F(GroupViolations, ALoopWalksATensorOnce) {
  groups_[1].calls[0].operands[0][1] = groups_[1].calls[0].operands[0][0];
  EXPECT_EQ(found(), Texts{"the loops of the call that makes 'tv3' are not each one of the group, "
                           "once a tensor"});
}

TEST_F(GroupViolations, ALibraryCallIsOne) {
  groups_[0].kind = GroupKind::Call;
  EXPECT_EQ(found(), Texts{"group 0 is a library's and has 2 calls"});
}

TEST(GroupViolationsOfDraws, ADrawIsInOneGroup) {
  const Fusion fusion = parse(kX + "tv1: Float[8, 6] = rand_like(tv0)\n"
                                   "output tv1\n",
                              [](std::string_view name) { return findOp(name); });
  std::vector<Group> groups = segment(fusion);
  groups.push_back(groups.front());
  groups.back().outputs.clear();
  EXPECT_EQ(groupViolations(fusion, groups), Texts{"'tv1' is drawn twice"});
}

class ScheduleViolations : public ::testing::Test {
 protected:
  Nest nest_{{64, 512}, {0, 1}, {{4, false, {512, 1}}, {4, true, {1, 0}}}, 1, 0};
  Schedule schedule_ = chooseSchedule(nest_, {});

  Texts found() const { return scheduleViolations(nest_, schedule_); }
};

TEST_F(ScheduleViolations, ARightScheduleHasNone) { EXPECT_EQ(found(), Texts()); }

TEST_F(ScheduleViolations, EachLoopRunsOnce) {
  schedule_.parallel.clear();
  EXPECT_EQ(found(), (Texts{"loop l0 runs 0 times", "64 iterations are not 1"}));
}

TEST_F(ScheduleViolations, AReducedLoopIsReduced) {
  schedule_.isLaneReduced = false;
  EXPECT_EQ(found(), Texts{"loop l1 is reduced"});
}

TEST_F(ScheduleViolations, ALoopHasItsExtentAndItsStrides) {
  schedule_.parallel[0].extent = 63;
  schedule_.lane.strides[0] = 2;
  EXPECT_EQ(found(),
            (Texts{"loops of 64 iterations run 63 times", "a loop has another stride than tensor 0",
                   "64 iterations are not 63"}));
}

TEST_F(ScheduleViolations, BlocksCoverTheLane) {
  schedule_.laneBlock = 511;
  EXPECT_EQ(found(), Texts{"blocks of 511 don't cover the lane"});
  schedule_.laneBlock = 0;
  EXPECT_EQ(found(), Texts{"a block, a grain, a tile or a part has no iteration"});
}

TEST(ScheduleViolationsOfParts, PartsCoverTheLoopThatIsSplit) {
  const Nest nest{{1 << 20}, {1}, {{4, false, {1}}, {4, true, {0}}}, 1, 0};
  Schedule schedule = chooseSchedule(nest, {});
  ASSERT_TRUE(schedule.isSplit);
  EXPECT_EQ(scheduleViolations(nest, schedule), Texts());
  --schedule.splits;
  EXPECT_EQ(scheduleViolations(nest, schedule),
            Texts{"parts of 65536 don't cover the loop that is split"});
}

}  // namespace
}  // namespace meshfuse
