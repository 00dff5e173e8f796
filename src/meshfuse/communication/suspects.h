// Which ranks broke a collective, from everything that can be known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/communication/group_state.h"
#include "meshfuse/communication/heartbeat.h"

namespace meshfuse {

/// A rank and what speaks against it.
struct Suspect {
  int64_t rank = -1;  // global
  std::string why;    // `has ended (pid 12 on host a)`

  bool operator==(const Suspect&) const = default;
};

/// `rank 1 has ended (pid 12 on host a), rank 2 is stopped (pid 13 on host a)`
std::string toText(const std::vector<Suspect>& suspects);

/// What is known of one peer when a collective has failed.
struct PeerEvidence {
  ProcessIdentity identity;
  ProcessStatus status = ProcessStatus::Elsewhere;
  bool isSelf = false;
  bool beats = true;               // false: its heartbeat stands still
  std::optional<int64_t> entered;  // collectives it has entered on the group, if it could say
  std::string fault;  // whom it blamed itself, as encodeSuspects; empty if it has seen no fault
};

/// Everything known. The ports are those in the backend's error text.
struct Evidence {
  std::vector<PeerEvidence> peers;  // by group rank
  std::vector<uint16_t> ports;
  int64_t entered = 0;  // collectives this process has entered
  bool timedOut = false;
};

/// The ranks to blame, most certain evidence first and alone: processes of this host that have ended, then that are stopped;
/// silent heartbeats; ranks that came late to a collective that timed out; whom the peer at the error's port blames, else that
/// peer itself. Empty when nothing speaks against anyone.
std::vector<Suspect> judge(const Evidence& evidence);

std::string encodeSuspects(const std::vector<Suspect>& suspects);
std::vector<Suspect> decodeSuspects(std::string_view text);

/// Gather the evidence about a failed collective of `state` and judge it; tell the peers the outcome through the store.
/// Takes up to three seconds where only heartbeats can tell.
std::vector<Suspect> findSuspects(GroupState& state, std::string_view errorText, bool timedOut);

}  // namespace meshfuse
