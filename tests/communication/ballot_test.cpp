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
  Ballot ballot = ballotOf(1, ~uint64_t{0}, "one\ntwo 3\n4");
  merge(ballot, ballotOf(0, 0, ""));
  merge(ballot, {{}, {{3, "has ended (pid 1 on host a)"}}});
  EXPECT_EQ(ballot.parties[0].what, "one");
  EXPECT_EQ(ballot.parties[0].details, "two 3\n4");
  EXPECT_EQ(decodeBallot(encode(ballot, 8), 8), ballot);
  EXPECT_EQ(decodeBallot(encode(ballot, 8), 10), std::nullopt);
  EXPECT_EQ(decodeBallot("", 0), std::nullopt) << "before the first round";
}

TEST(Ballot, PartiesThatSayTheSameAreToldApartByTheirDetails) {
  Ballot ballot = ballotOf(0, 0xa, "mul of Float[4]\ninput tv0\ntv1 = mul(tv0, 2.0)\noutput tv1");
  merge(ballot, ballotOf(1, 0xb, "mul of Float[4]\ninput tv0\ntv1 = mul(tv0, 3.0)\noutput tv1"));
  merge(ballot, ballotOf(2, 0xc, "add of Float[4]\ninput tv0"));
  EXPECT_EQ(partiesText(ballot),
            "rank 0 runs 'mul of Float[4]' with 'tv1 = mul(tv0, 2.0)' (fingerprint 0xa), "
            "rank 1 runs 'mul of Float[4]' with 'tv1 = mul(tv0, 3.0)' (fingerprint 0xb), "
            "rank 2 runs 'add of Float[4]' (fingerprint 0xc)");
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
