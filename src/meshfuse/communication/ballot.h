// What ranks tell each other to find out whether they run the same program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/communication/suspects.h"

namespace meshfuse {

/// Ranks with one fingerprint, and what they say they run.
struct Party {
  uint64_t fingerprint = 0;
  std::string what;
  std::vector<int64_t> ranks;  // global, ascending
  std::string details = {};    // lines that tell it from another that says the same

  bool operator==(const Party&) const = default;
};

/// What a rank has heard so far: the parties, and ranks that could not be heard.
struct Ballot {
  std::vector<Party> parties;
  std::vector<Suspect> missing;

  bool operator==(const Ballot&) const = default;
};

/// One rank's own. The first line of `what` is what it says, cut to 300 characters; the others are details.
Ballot ballotOf(int64_t rank, uint64_t fingerprint, std::string_view what);

/// Add what another rank has heard.
void merge(Ballot& ballot, const Ballot& other);

/// Text for the store; `round` tells it from the ballots before.
std::string encode(const Ballot& ballot, int64_t round);
/// nullopt for text of another round.
std::optional<Ballot> decodeBallot(std::string_view text, int64_t round);

/// `rank 0 runs 'a' (fingerprint 0x01), ranks [1, 2] run 'b' (fingerprint 0x02)`, by lowest rank. Where two say the same, the first
/// line in which their details differ follows.
std::string partiesText(const Ballot& ballot);

}  // namespace meshfuse
