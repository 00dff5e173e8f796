// One thread a process that tells the stores of its groups: still here.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace meshfuse {

inline constexpr std::chrono::milliseconds kBeatInterval{1000};

/// What a beat says.
struct Beat {
  int64_t count = 0;    // grows by one a beat
  int64_t entered = 0;  // GroupState::entered()

  bool operator==(const Beat&) const = default;
};

std::string encode(const Beat& beat);
Beat decodeBeat(std::string_view text);

/// Start the thread unless it runs. It writes a beat for every group that has met and is alive, and lets go of groups that
/// were destroyed. It ends at exit.
void startHeartbeat();

/// End the thread; returns when it has ended, or after half a second if a hung store holds it.
void stopHeartbeat();

}  // namespace meshfuse
