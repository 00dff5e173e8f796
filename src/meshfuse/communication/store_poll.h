// Waiting for other ranks by asking a store again and again, and how ranks and times read in errors.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace meshfuse {

using Clock = std::chrono::steady_clock;

/// How much longer than its own deadline a call through a store may take before the store counts as hung.
inline constexpr std::chrono::milliseconds kStoreGrace{500};

/// Pauses between questions, growing from 50 microseconds to 50 milliseconds so that a long wait costs the store little.
class PollPace {
 public:
  explicit PollPace(Clock::time_point until) : until_(until) {}
  /// Sleep a little. False, at once, when the time is over.
  bool pause();

 private:
  Clock::time_point until_;
  std::chrono::microseconds next_{50};
};

/// `rank 3`, `ranks [0, 2]`
std::string ranksText(const std::vector<int64_t>& ranks);

/// `1.5 s`
std::string toText(std::chrono::milliseconds time);

}  // namespace meshfuse
