#include "meshfuse/communication/suspects.h"

#include <gtest/gtest.h>

namespace meshfuse {
namespace {

// Three ranks on three hosts; this process is rank 0 and waits in its fourth call.
Evidence threeHosts() {
  Evidence evidence;
  evidence.entered = 4;
  evidence.timedOut = true;
  for (int64_t rank = 0; rank < 3; ++rank) {
    PeerEvidence peer;
    peer.identity.rank = rank;
    peer.identity.hostName = std::string(1, static_cast<char>('a' + rank));
    peer.identity.pid = 10 + rank;
    peer.identity.ports = {static_cast<uint16_t>(1000 + rank), static_cast<uint16_t>(2000 + rank)};
    peer.status = ProcessStatus::Elsewhere;
    peer.isSelf = rank == 0;
    peer.entered = 4;
    evidence.peers.push_back(peer);
  }
  return evidence;
}

TEST(Suspects, NobodyWithoutEvidence) { EXPECT_TRUE(judge(threeHosts()).empty()); }

TEST(Suspects, AnEndedProcessIsTheOnlyOneToBlame) {
  Evidence evidence = threeHosts();
  evidence.peers[1].status = ProcessStatus::Gone;
  evidence.peers[2].status = ProcessStatus::Stopped;
  evidence.ports = {1002};
  EXPECT_EQ(toText(judge(evidence)), "rank 1 has ended (pid 11 on host b)");
}

TEST(Suspects, AStoppedProcessIsToBlameForATimeout) {
  Evidence evidence = threeHosts();
  evidence.peers[2].status = ProcessStatus::Stopped;
  EXPECT_EQ(toText(judge(evidence)), "rank 2 is stopped (pid 12 on host c)");
  evidence.timedOut = false;
  EXPECT_TRUE(judge(evidence).empty());
}

TEST(Suspects, ASilentHeartNamesAnotherHostsProcess) {
  Evidence evidence = threeHosts();
  evidence.peers[1].beats = false;
  evidence.peers[1].entered = 3;
  evidence.peers[2].entered = 3;
  EXPECT_EQ(toText(judge(evidence)), "rank 1 gives no sign of life (pid 11 on host b)");
}

TEST(Suspects, ALateRankIsNamedWithItsCalls) {
  Evidence evidence = threeHosts();
  evidence.peers[2].entered = 3;
  EXPECT_EQ(toText(judge(evidence)),
            "rank 2 is alive but has not come (pid 12 on host c): it has made 3 of 4 calls on this "
            "group");
  evidence.timedOut = false;
  EXPECT_TRUE(judge(evidence).empty()) << "being behind explains no broken connection";
  evidence.timedOut = true;
  evidence.peers[2].entered.reset();
  EXPECT_TRUE(judge(evidence).empty()) << "the store could not be asked";
}

TEST(Suspects, ThePortNamesARank) {
  Evidence evidence = threeHosts();
  evidence.timedOut = false;
  evidence.ports = {2001};
  EXPECT_EQ(toText(judge(evidence)), "rank 1 closed its connection (pid 11 on host b)");
}

TEST(Suspects, ARankThatFailedBecauseOfAnotherPassesTheBlameOn) {
  Evidence evidence = threeHosts();
  evidence.timedOut = false;
  evidence.ports = {1001};
  evidence.peers[1].fault = encodeSuspects({{2, "has ended (pid 12 on host c)"}});
  EXPECT_EQ(toText(judge(evidence)), "rank 2 has ended (pid 12 on host c)");
}

TEST(Suspects, SurviveTheStore) {
  const std::vector<Suspect> suspects{{2, "has ended (pid 12 on host c)"}, {0, "is stopped"}};
  EXPECT_EQ(decodeSuspects(encodeSuspects(suspects)), suspects);
  EXPECT_TRUE(decodeSuspects("").empty());
}

TEST(Suspects, BeatsSurviveTheStore) {
  const Beat beat{41, 7};
  EXPECT_EQ(decodeBeat(encode(beat)), beat);
}

}  // namespace
}  // namespace meshfuse
