#include "meshfuse/communication/ballot.h"

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

TEST(Ballot, EqualFingerprintsAreOneParty) {
  Ballot ballot = ballotOf(2, 5, "add");
  merge(ballot, ballotOf(0, 5, "add"));
  merge(ballot, ballotOf(0, 5, "add"));
  EXPECT_EQ(ballot.parties, (std::vector<Party>{{5, "add", {0, 2}}}));
}

TEST(Ballot, DifferentFingerprintsNameAllRanks) {
  Ballot ballot = ballotOf(2, 0xb, "mul");
  merge(ballot, ballotOf(0, 0xa, "add"));
  merge(ballot, ballotOf(1, 0xb, "mul"));
  EXPECT_EQ(partiesText(ballot),
            "rank 0 runs 'add' (fingerprint 0xa), ranks [1, 2] run 'mul' (fingerprint 0xb)");
}

TEST(Ballot, SurvivesTheStoreInItsRound) {
  Ballot ballot = ballotOf(1, ~uint64_t{0}, "one\ntwo 3");
  merge(ballot, ballotOf(0, 0, ""));
  merge(ballot, {{}, {{3, "has ended (pid 1 on host a)"}}});
  EXPECT_EQ(ballot.parties[0].what, "one two 3");
  EXPECT_EQ(decodeBallot(encode(ballot, 8), 8), ballot);
  EXPECT_EQ(decodeBallot(encode(ballot, 8), 10), std::nullopt);
  EXPECT_EQ(decodeBallot("", 0), std::nullopt) << "before the first round";
}

TEST(Ballot, LongTextsAreCut) {
  const Ballot ballot = ballotOf(0, 1, std::string(1000, 'x'));
  std::string shortened(300, 'x');
  shortened += "...";
  EXPECT_EQ(ballot.parties[0].what, shortened);
}

TEST(Ballot, ARankIsMissingOnce) {
  Ballot ballot;
  merge(ballot, {{}, {{3, "has not come"}}});
  merge(ballot, {{}, {{3, "has ended"}}});
  EXPECT_EQ(toText(ballot.missing), "rank 3 has not come");
}

}  // namespace
}  // namespace meshfuse
