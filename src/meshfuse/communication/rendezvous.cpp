#include "meshfuse/communication/rendezvous.h"

#include <algorithm>
#include <thread>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/communication/bounded_call.h"
#include "meshfuse/communication/heartbeat.h"
#include "meshfuse/communication/store_poll.h"

namespace meshfuse {
namespace {

struct Meeting {
  Membership membership;
  std::vector<int64_t> missing;  // group ranks
};

// Keys that peers read without asking whether they exist are made before the one that says "I am here".
void introduce(GroupStore& store, const Membership& membership, int64_t groupRank,
               const ProcessIdentity& self) {
  store.set(membership.key("vote/0", groupRank), "");
  store.set(membership.key("vote/1", groupRank), "");
  store.set(membership.key("fault", groupRank), "");
  store.set(membership.key("beat", groupRank), "0 0");
  store.set(membership.key("member", groupRank), encode(self));
}

Meeting meetThrough(GroupStore& store, int64_t groupRank, int64_t size, const ProcessIdentity& self,
                    Clock::time_point until) {
  Meeting meeting;
  Membership& membership = meeting.membership;
  membership.members.resize(size);
  membership.incarnation = (store.add("arrivals", 1) - 1) / size;
  introduce(store, membership, groupRank, self);
  const std::vector<std::string> keys = membership.keys("member");
  PollPace pace(until);
  while (!store.has(keys)) {
    if (!pace.pause()) {
      for (int64_t peer = 0; peer < size; ++peer) {
        if (!store.has({keys[peer]})) {
          meeting.missing.push_back(peer);
        }
      }
      if (!meeting.missing.empty()) {
        return meeting;
      }
    }
  }
  const std::vector<std::string> values = store.get(keys);
  std::ranges::transform(values, membership.members.begin(), decodeProcessIdentity);
  return meeting;
}

[[noreturn]] void throwNotMet(GroupState& state, const OpText& op,
                              std::chrono::milliseconds deadline, const std::string& found) {
  const UserError error(ErrorKind::Runtime,
                        {op(),
                         "all ranks of process group '" + state.name() +
                             "' come to its first use within " + toText(deadline),
                         found,
                         "check that every rank runs the same program up to here and that none has "
                         "ended; raise MESHFUSE_COLLECTIVE_TIMEOUT_S if ranks start late"});
  state.poison(error.what());
  throw error;
}

}  // namespace

std::shared_ptr<const Membership> meet(const GroupUse& use, const OpText& op,
                                       const std::vector<int64_t>& ranks, int64_t self,
                                       std::chrono::milliseconds deadline) {
  GroupState& state = use.state();
  if (std::shared_ptr<const Membership> known = state.membership()) {
    return known;
  }
  const std::shared_ptr<GroupStore> store = state.openStore(use.group());
  const Clock::time_point until = Clock::now() + deadline;
  std::optional<Meeting> meeting;
  try {
    meeting = callWithin<Meeting>(until + kStoreGrace,
                                  [store, groupRank = state.groupRank(), size = state.size(), until,
                                   identity = describeThisProcess(self)] {
                                    return meetThrough(*store, groupRank, size, identity, until);
                                  });
  } catch (const StoreLost& lost) {
    throwNotMet(state, op, deadline, lost.what());
  }
  if (!meeting) {
    store->giveUp("does not answer");
    throwNotMet(state, op, deadline, "the store at " + store->address() + " does not answer");
  }
  if (!meeting->missing.empty()) {
    std::vector<int64_t> missing;
    std::ranges::transform(meeting->missing, std::back_inserter(missing),
                           [&](int64_t groupRank) { return ranks[groupRank]; });
    throwNotMet(state, op, deadline,
                ranksText(missing) + (missing.size() == 1 ? " has" : " have") + " not come");
  }
  auto membership = std::make_shared<const Membership>(std::move(meeting->membership));
  state.setMembership(membership);
  startHeartbeat();
  return membership;
}

}  // namespace meshfuse
