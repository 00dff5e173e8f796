#include "meshfuse/communication/ballot.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "meshfuse/base/text.h"
#include "meshfuse/communication/store_poll.h"

namespace meshfuse {
namespace {

constexpr size_t kLongestWhat = 300;

std::vector<int64_t> unionOf(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
  }
  return lines;
}

/// The first line that the party's details have and those of another that says the same have not; empty without such.
std::string ownLine(const Party& party, const std::vector<Party>& parties) {
  const std::vector<std::string> lines = linesOf(party.details);
  for (const Party& other : parties) {
    if (other.what != party.what || other.details == party.details) {
      continue;
    }
    const std::vector<std::string> others = linesOf(other.details);
    const auto [own, theirs] = std::ranges::mismatch(lines, others);
    if (own != lines.end()) {
      return own->substr(0, kLongestWhat);
    }
  }
  return "";
}

}  // namespace

Ballot ballotOf(int64_t rank, uint64_t fingerprint, std::string_view what) {
  const size_t firstEnd = std::min(what.find('\n'), what.size());
  std::string line(what.substr(0, std::min(firstEnd, kLongestWhat)));
  if (firstEnd > kLongestWhat) {
    line += "...";
  }
  std::string details(what.substr(std::min(firstEnd + 1, what.size())));
  return {{{fingerprint, std::move(line), {rank}, std::move(details)}}, {}};
}

void merge(Ballot& ballot, const Ballot& other) {
  for (const Party& party : other.parties) {
    const auto known = std::ranges::find(ballot.parties, party.fingerprint, &Party::fingerprint);
    if (known == ballot.parties.end()) {
      ballot.parties.push_back(party);
    } else {
      known->ranks = unionOf(known->ranks, party.ranks);
    }
  }
  for (const Suspect& suspect : other.missing) {
    if (std::ranges::find(ballot.missing, suspect.rank, &Suspect::rank) == ballot.missing.end()) {
      ballot.missing.push_back(suspect);
    }
  }
}

std::string encode(const Ballot& ballot, int64_t round) {
  std::ostringstream out;
  out << round << ' ' << ballot.parties.size() << '\n';
  for (const Party& party : ballot.parties) {
    out << party.what << '\n' << party.details.size() << '\n' << party.details;
    out << party.fingerprint << ' ' << party.ranks.size();
    for (const int64_t rank : party.ranks) {
      out << ' ' << rank;
    }
    out << '\n';
  }
  out << encodeSuspects(ballot.missing);
  return out.str();
}

std::optional<Ballot> decodeBallot(std::string_view text, int64_t round) {
  std::istringstream in{std::string(text)};
  int64_t found = -1;
  size_t parties = 0;
  if (!(in >> found >> parties) || found != round) {
    return std::nullopt;
  }
  in.ignore();
  Ballot ballot;
  for (size_t i = 0; i < parties; ++i) {
    Party party;
    size_t count = 0;
    size_t length = 0;
    std::getline(in, party.what);
    in >> length;
    in.ignore();
    party.details.resize(length);
    in.read(party.details.data(), static_cast<std::streamsize>(length));
    in >> party.fingerprint >> count;
    party.ranks.resize(count);
    for (int64_t& rank : party.ranks) {
      in >> rank;
    }
    in.ignore();
    ballot.parties.push_back(std::move(party));
  }
  std::string rest;
  std::getline(in, rest, '\0');
  ballot.missing = decodeSuspects(rest);
  return ballot;
}

std::string partiesText(const Ballot& ballot) {
  std::vector<Party> parties = ballot.parties;
  std::ranges::sort(parties, {}, [](const Party& party) { return party.ranks.front(); });
  std::vector<std::string> parts;
  for (const Party& party : parties) {
    char fingerprint[20];
    std::snprintf(fingerprint, sizeof fingerprint, "0x%llx",
                  static_cast<unsigned long long>(party.fingerprint));
    const std::string line = ownLine(party, parties);
    parts.push_back(ranksText(party.ranks) + (party.ranks.size() == 1 ? " runs '" : " run '") +
                    party.what + "'" + (line.empty() ? "" : " with '" + line + "'") +
                    " (fingerprint " + fingerprint + ")");
  }
  return joinText(parts, ", ");
}

}  // namespace meshfuse
