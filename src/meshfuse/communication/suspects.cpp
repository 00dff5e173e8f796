#include "meshfuse/communication/suspects.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <thread>

#include "meshfuse/base/text.h"
#include "meshfuse/communication/bounded_call.h"
#include "meshfuse/communication/store_poll.h"

namespace meshfuse {
namespace {

// A killed process closes its connections a moment before it counts as ended.
constexpr std::chrono::milliseconds kDyingPatience{300};
// Two beats and a half.
constexpr std::chrono::milliseconds kBeatPatience{2500};

std::string process(const PeerEvidence& peer) { return " (" + toText(peer.identity) + ")"; }

std::vector<Suspect> collect(const Evidence& evidence,
                             const std::function<bool(const PeerEvidence&)>& blamed,
                             const std::function<std::string(const PeerEvidence&)>& why) {
  std::vector<Suspect> suspects;
  for (const PeerEvidence& peer : evidence.peers) {
    if (!peer.isSelf && blamed(peer)) {
      suspects.push_back({peer.identity.rank, why(peer)});
    }
  }
  return suspects;
}

std::vector<Suspect> ended(const Evidence& evidence) {
  return collect(
      evidence, [](const PeerEvidence& peer) { return peer.status == ProcessStatus::Gone; },
      [](const PeerEvidence& peer) { return "has ended" + process(peer); });
}

std::vector<Suspect> stopped(const Evidence& evidence) {
  if (!evidence.timedOut) {
    return {};
  }
  return collect(
      evidence, [](const PeerEvidence& peer) { return peer.status == ProcessStatus::Stopped; },
      [](const PeerEvidence& peer) { return "is stopped" + process(peer); });
}

std::vector<Suspect> silent(const Evidence& evidence) {
  return collect(
      evidence,
      [](const PeerEvidence& peer) {
        return !peer.beats && peer.status == ProcessStatus::Elsewhere;
      },
      [](const PeerEvidence& peer) { return "gives no sign of life" + process(peer); });
}

std::vector<Suspect> late(const Evidence& evidence) {
  if (!evidence.timedOut) {
    return {};
  }
  return collect(
      evidence,
      [&](const PeerEvidence& peer) {
        return peer.beats && peer.entered && *peer.entered < evidence.entered;
      },
      [&](const PeerEvidence& peer) {
        return "is alive but has not come" + process(peer) + ": it has made " +
               std::to_string(*peer.entered) + " of " + std::to_string(evidence.entered) +
               " calls on this group";
      });
}

std::vector<Suspect> atThePort(const Evidence& evidence) {
  for (const PeerEvidence& peer : evidence.peers) {
    const bool named = std::ranges::any_of(evidence.ports, [&](uint16_t port) {
      return std::ranges::binary_search(peer.identity.ports, port);
    });
    if (peer.isSelf || !named) {
      continue;
    }
    std::vector<Suspect> blamed = decodeSuspects(peer.fault);
    return blamed.empty()
               ? std::vector<Suspect>{{peer.identity.rank, "closed its connection" + process(peer)}}
               : blamed;
  }
  return {};
}

std::vector<Suspect> blamedByAnyone(const Evidence& evidence) {
  for (const PeerEvidence& peer : evidence.peers) {
    if (!peer.isSelf && !peer.fault.empty()) {
      return decodeSuspects(peer.fault);
    }
  }
  return {};
}

// What the processes of this host look like. Fills status and isSelf.
void look(const GroupState& state, Evidence& evidence) {
  const ProcessIdentity& self = evidence.peers[state.groupRank()].identity;
  for (PeerEvidence& peer : evidence.peers) {
    peer.status = statusOf(peer.identity, self);
  }
  evidence.peers[state.groupRank()].isSelf = true;
}

struct StoreView {
  std::vector<std::string> faults;
  std::vector<Beat> beats;
  std::vector<bool> moved;  // the beat changed while watched
};

// Watches until every member's heart has beaten, or the patience ends.
StoreView watchStore(GroupStore& store, const Membership& membership) {
  const std::vector<std::string> beatKeys = membership.keys("beat");
  const std::vector<std::string> first = store.get(beatKeys);
  StoreView view;
  view.moved.assign(first.size(), false);
  const Clock::time_point until = Clock::now() + kBeatPatience;
  bool watching = true;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::vector<std::string> now = store.get(beatKeys);
    view.beats.clear();
    for (size_t peer = 0; peer < now.size(); ++peer) {
      view.beats.push_back(decodeBeat(now[peer]));
      view.moved[peer] = view.moved[peer] || now[peer] != first[peer];
    }
    watching = std::ranges::find(view.moved, false) != view.moved.end();
  } while (watching && Clock::now() < until);
  view.faults = store.get(membership.keys("fault"));
  return view;
}

void ask(const std::shared_ptr<GroupStore>& store,
         const std::shared_ptr<const Membership>& membership, Evidence& evidence) {
  const std::optional<StoreView> view =
      callWithin<StoreView>(Clock::now() + kBeatPatience + kStoreGrace,
                            [store, membership] { return watchStore(*store, *membership); });
  if (!view) {
    store->giveUp("does not answer");
    return;
  }
  for (size_t peer = 0; peer < evidence.peers.size(); ++peer) {
    evidence.peers[peer].beats = view->moved[peer];
    evidence.peers[peer].entered = view->beats[peer].entered;
    evidence.peers[peer].fault = view->faults[peer];
  }
}

void tellPeers(const GroupState& state, const std::vector<Suspect>& suspects) {
  const std::shared_ptr<GroupStore> store = state.store();
  const std::shared_ptr<const Membership> membership = state.membership();
  if (!store || !membership || suspects.empty()) {
    return;
  }
  try {
    callWithin<bool>(Clock::now() + kStoreGrace,
                     [store, key = membership->key("fault", state.groupRank()),
                      text = encodeSuspects(suspects)] {
                       store->noticeHangUp();
                       store->set(key, text);
                       return true;
                     });
  } catch (const StoreLost&) {
    // Nobody can be told; each rank finds out by itself.
  }
}

std::vector<Suspect> gatherAndJudge(GroupState& state, std::string_view errorText, bool timedOut) {
  const std::shared_ptr<const Membership> membership = state.membership();
  if (!membership) {
    return {};
  }
  Evidence evidence;
  evidence.ports = portsIn(errorText);
  evidence.entered = state.entered();
  evidence.timedOut = timedOut;
  for (const ProcessIdentity& identity : membership->members) {
    evidence.peers.push_back({.identity = identity, .entered = {}, .fault = {}});
  }
  const Clock::time_point until = Clock::now() + kDyingPatience;
  for (bool again = true; again;) {
    look(state, evidence);
    if (std::vector<Suspect> suspects = ended(evidence); !suspects.empty()) {
      return suspects;
    }
    again = !timedOut && Clock::now() < until;
    std::this_thread::sleep_for(std::chrono::milliseconds(again ? 10 : 0));
  }
  if (std::vector<Suspect> suspects = stopped(evidence); !suspects.empty()) {
    return suspects;
  }
  try {
    if (const std::shared_ptr<GroupStore> store = state.store()) {
      store->noticeHangUp();
      ask(store, membership, evidence);
    }
  } catch (const StoreLost&) {
    // Judge by what is left.
  }
  look(state, evidence);
  return judge(evidence);
}

}  // namespace

std::string toText(const std::vector<Suspect>& suspects) {
  std::vector<std::string> parts;
  for (const Suspect& suspect : suspects) {
    parts.push_back("rank " + std::to_string(suspect.rank) + " " + suspect.why);
  }
  return joinText(parts, ", ");
}

std::string encodeSuspects(const std::vector<Suspect>& suspects) {
  std::string out;
  for (const Suspect& suspect : suspects) {
    out += std::to_string(suspect.rank) + " " + suspect.why + "\n";
  }
  return out;
}

std::vector<Suspect> decodeSuspects(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<Suspect> suspects;
  for (Suspect suspect; in >> suspect.rank;) {
    in.ignore();
    std::getline(in, suspect.why);
    suspects.push_back(suspect);
  }
  return suspects;
}

std::vector<Suspect> judge(const Evidence& evidence) {
  using Rule = std::vector<Suspect> (*)(const Evidence&);
  for (const Rule rule : {Rule(ended), Rule(stopped), Rule(silent), Rule(late), Rule(atThePort),
                          Rule(blamedByAnyone)}) {
    if (std::vector<Suspect> suspects = rule(evidence); !suspects.empty()) {
      return suspects;
    }
  }
  return {};
}

std::vector<Suspect> findSuspects(GroupState& state, std::string_view errorText, bool timedOut) {
  std::vector<Suspect> suspects = gatherAndJudge(state, errorText, timedOut);
  tellPeers(state, suspects);
  return suspects;
}

}  // namespace meshfuse
