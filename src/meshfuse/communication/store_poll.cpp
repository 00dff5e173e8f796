#include "meshfuse/communication/store_poll.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "meshfuse/base/text.h"

namespace meshfuse {

bool PollPace::pause() {
  const Clock::time_point now = Clock::now();
  if (now >= until_) {
    return false;
  }
  std::this_thread::sleep_for(std::min<Clock::duration>(next_, until_ - now));
  next_ = std::min(next_ * 3 / 2, std::chrono::microseconds(50'000));
  return true;
}

std::string ranksText(const std::vector<int64_t>& ranks) {
  if (ranks.size() == 1) {
    return "rank " + std::to_string(ranks[0]);
  }
  return "ranks " + toText(std::span<const int64_t>(ranks));
}

std::string toText(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(time.count()) / 1e3);
  return text;
}

}  // namespace meshfuse
