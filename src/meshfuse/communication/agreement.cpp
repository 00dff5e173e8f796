#include "meshfuse/communication/agreement.h"

#include <algorithm>
#include <deque>

#include "meshfuse/base/error.h"
#include "meshfuse/communication/ballot.h"
#include "meshfuse/communication/bounded_call.h"
#include "meshfuse/communication/fingerprint_exchange.h"
#include "meshfuse/communication/group_use_on_axis.h"
#include "meshfuse/communication/store_poll.h"

namespace meshfuse {
namespace {

// How often to see whether a rank that is waited for still runs.
constexpr std::chrono::milliseconds kLivenessInterval{100};
// How far apart the ranks of a group notice that it has failed.
constexpr std::chrono::milliseconds kFaultPatience{1000};

// The exchange on one axis. Owns all it needs: it may be left behind with a hung store.
struct Exchange {
  std::shared_ptr<GroupStore> store;
  std::shared_ptr<const Membership> membership;
  int64_t groupRank = 0;
  int64_t round = 0;
  Clock::time_point until;

  std::string key(int64_t peer) const {
    return membership->key(round % 2 == 0 ? "vote/0" : "vote/1", peer);
  }
  std::vector<std::string> keys() const {
    return membership->keys(round % 2 == 0 ? "vote/0" : "vote/1");
  }
  const ProcessIdentity& self() const { return membership->members[groupRank]; }
};

std::string whyMissing(const ProcessIdentity& peer, const ProcessIdentity& self) {
  switch (statusOf(peer, self)) {
    case ProcessStatus::Gone:
      return "has ended (" + toText(peer) + ")";
    case ProcessStatus::Stopped:
      return "is stopped (" + toText(peer) + ")";
    case ProcessStatus::Running:
    case ProcessStatus::Elsewhere:
      break;
  }
  return "has not come (" + toText(peer) + ")";
}

// Merges the ballots that are there into `ballot`; gives the group ranks without one.
std::vector<int64_t> collectBallots(const Exchange& exchange, Ballot& ballot) {
  const std::vector<std::string> texts = exchange.store->get(exchange.keys());
  std::vector<int64_t> missing;
  for (int64_t peer = 0; peer < static_cast<int64_t>(texts.size()); ++peer) {
    if (const std::optional<Ballot> other = decodeBallot(texts[peer], exchange.round)) {
      merge(ballot, *other);
    } else {
      missing.push_back(peer);
    }
  }
  return missing;
}

bool anyGone(const Exchange& exchange, const std::vector<int64_t>& peers) {
  return std::ranges::any_of(peers, [&](int64_t peer) {
    return statusOf(exchange.membership->members[peer], exchange.self()) == ProcessStatus::Gone;
  });
}

// Two keys a rank are enough: a rank writes round r + 2 after it has seen all of round r + 1, and a rank writes that after it
// has read all of round r.
Ballot exchangeBallots(const Exchange& exchange, Ballot ballot) {
  exchange.store->set(exchange.key(exchange.groupRank), encode(ballot, exchange.round));
  PollPace pace(exchange.until);
  Clock::time_point nextLook = Clock::now() + kLivenessInterval;
  std::vector<int64_t> missing = collectBallots(exchange, ballot);
  while (!missing.empty() && pace.pause()) {
    missing = collectBallots(exchange, ballot);
    if (Clock::now() >= nextLook) {
      if (anyGone(exchange, missing)) {
        break;
      }
      nextLook = Clock::now() + kLivenessInterval;
    }
  }
  for (const int64_t peer : missing) {
    const ProcessIdentity& identity = exchange.membership->members[peer];
    merge(ballot, {{}, {{identity.rank, whyMissing(identity, exchange.self())}}});
  }
  if (!ballot.missing.empty()) {
    // A rank that comes late finds that it is too late.
    exchange.store->set(exchange.key(exchange.groupRank), encode(ballot, exchange.round));
  }
  return ballot;
}

struct Agreement {
  MeshBinding& binding;
  OpText op;
  std::chrono::milliseconds deadline;
  std::deque<GroupUse> uses;  // of the axes of more than one rank
};

[[noreturn]] void giveUp(const Agreement& agreement, const std::string& found) {
  const UserError error(
      ErrorKind::Runtime,
      {agreement.op(),
       "every rank of the mesh comes to a program's call within " + toText(agreement.deadline),
       found,
       "check that all ranks run the same calls in the same order; then make the process group and "
       "the "
       "mesh again, or restart the ranks"});
  for (const GroupUse& use : agreement.uses) {
    use.state().poison(error.what());
  }
  throw error;
}

std::string whoIsMissing(const Agreement& agreement, const Ballot& ballot) {
  const bool selfIsLate = std::ranges::any_of(ballot.missing, [&](const Suspect& suspect) {
    return suspect.rank == agreement.binding.rank();
  });
  return (selfIsLate ? "the others gave up before this rank came: " : "") + toText(ballot.missing);
}

Ballot askAxis(const Agreement& agreement, const GroupUse& use, const Ballot& ballot,
               Clock::time_point until) {
  GroupState& state = use.state();
  const std::shared_ptr<GroupStore> store = state.openStore(use.group());
  const Exchange exchange{store, state.membership(), state.groupRank(), state.agreements++, until};
  std::optional<Ballot> heard;
  try {
    heard = callWithin<Ballot>(until + kStoreGrace,
                               [exchange, ballot] { return exchangeBallots(exchange, ballot); });
  } catch (const StoreLost& lost) {
    giveUp(agreement, lost.what() + describeFault(state, "", true));
  }
  if (!heard) {
    store->giveUp("does not answer");
    giveUp(agreement, "the store at " + store->address() + " does not answer" +
                          describeFault(state, "", true));
  }
  return *heard;
}

// A rank that waits on a later axis for one that is held up on an earlier one waits a little longer to hear why.
FingerprintsSeen exchangeOnAllAxes(const Agreement& agreement, uint64_t fingerprint) {
  FingerprintsSeen seen;
  std::chrono::milliseconds deadline = agreement.deadline;
  for (const GroupUse& use : agreement.uses) {
    exchangeFingerprints(use.group(), fingerprint, deadline, seen);
    deadline += kStoreGrace;
  }
  return seen;
}

// Finds out through the stores who runs what and who is missing, and throws it. `fault` is what the backend said when the
// groups themselves failed; they aren't used on then.
void vote(const Agreement& agreement, Ballot ballot, const std::string& fault) {
  // After a fault all others know of it as well; who has not come by now is late.
  const std::chrono::milliseconds patience =
      fault.empty() ? agreement.deadline : std::min(agreement.deadline, kFaultPatience);
  Clock::time_point until = Clock::now() + patience;
  for (const GroupUse& use : agreement.uses) {
    ballot = askAxis(agreement, use, ballot, until);
    until += kStoreGrace;
  }
  if (!ballot.missing.empty()) {
    giveUp(agreement, whoIsMissing(agreement, ballot));
  }
  if (!fault.empty()) {
    giveUp(agreement, "no rank could be named; the backend says '" + shortText(fault) + "'");
  }
  if (ballot.parties.size() > 1) {
    throwUser(ErrorKind::Runtime,
              {agreement.op(), "all ranks of a mesh run the same program", partiesText(ballot),
               "run the same definition with the same global sizes, dtypes, placements and options "
               "on all ranks"});
  }
}

}  // namespace

void agree(MeshBinding& binding, uint64_t fingerprint, const OpText& what) {
  const OpText op = [&] {
    return "agreement of " + binding.mesh().toText() + " on '" +
           ballotOf(0, 0, what()).parties[0].what + "'";
  };
  Agreement agreement{binding, op, {}, {}};
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < binding.mesh().ndim(); ++axis) {
    if (binding.mesh().size(axis) > 1) {
      axes.push_back(axis);
      agreement.uses.emplace_back(*binding.group(axis), op);
    }
  }
  if (axes.empty() || agreement.uses.front().group().isFake()) {
    return;
  }
  agreement.deadline = deadlineFor(binding, agreement.uses.front().group());
  for (size_t i = 0; i < axes.size(); ++i) {
    joinAxis(binding, axes[i], agreement.uses[i], op, agreement.deadline);
  }
  FingerprintsSeen seen;
  if (std::ranges::all_of(agreement.uses, canExchangeFingerprints, &GroupUse::group)) {
    seen = exchangeOnAllAxes(agreement, fingerprint);
    if (seen.isSettled()) {
      return;
    }
  }
  vote(agreement, ballotOf(binding.rank(), fingerprint, what()), seen.fault);
}

}  // namespace meshfuse
