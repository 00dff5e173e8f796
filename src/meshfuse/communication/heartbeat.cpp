#include "meshfuse/communication/heartbeat.h"

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "meshfuse/communication/group_state.h"

namespace meshfuse {
namespace {

constexpr std::chrono::milliseconds kStopPatience{500};

// One run of the thread. Shared with the thread, which may outlast the wait for its end.
struct Run {
  std::mutex mutex;
  std::condition_variable changed;
  bool stopAsked = false;
  bool ended = false;
  int64_t pid = ::getpid();
};

struct Heart {
  std::mutex mutex;
  std::shared_ptr<Run> run;
  bool stopsAtExit = false;
};

// Never destroyed: a forked child inherits it without the thread, and exit handlers may come late.
Heart& heart() {
  static Heart* const instance = new Heart;
  return *instance;
}

void beatOnce(int64_t count) {
  for (const std::shared_ptr<GroupState>& state : GroupState::all()) {
    const std::shared_ptr<const Membership> membership = state->membership();
    const std::shared_ptr<GroupStore> store = state->store();
    if (!membership || !store) {
      continue;
    }
    try {
      store->noticeHangUp();
      store->set(membership->key("beat", state->groupRank()),
                 encode(Beat{count, state->entered()}));
    } catch (const StoreLost&) {
      // Peers can't be told any more. The next call on the group finds out and says so.
    }
  }
}

void beatUntilStopped(const std::shared_ptr<Run>& run) {
  std::unique_lock lock(run->mutex);
  for (int64_t count = 1;
       !run->changed.wait_for(lock, kBeatInterval, [&] { return run->stopAsked; }); ++count) {
    lock.unlock();
    beatOnce(count);
    lock.lock();
  }
  run->ended = true;
  run->changed.notify_all();
}

bool isRunning(const std::shared_ptr<Run>& run) {
  if (!run || run->pid != ::getpid()) {
    return false;
  }
  const std::lock_guard lock(run->mutex);
  return !run->stopAsked;
}

}  // namespace

std::string encode(const Beat& beat) {
  return std::to_string(beat.count) + " " + std::to_string(beat.entered);
}

Beat decodeBeat(std::string_view text) {
  std::istringstream in{std::string(text)};
  Beat beat;
  in >> beat.count >> beat.entered;
  return beat;
}

void startHeartbeat() {
  Heart& one = heart();
  const std::lock_guard lock(one.mutex);
  if (isRunning(one.run)) {
    return;
  }
  one.run = std::make_shared<Run>();
  std::thread(beatUntilStopped, one.run).detach();
  if (!one.stopsAtExit) {
    one.stopsAtExit = true;
    std::atexit(stopHeartbeat);
  }
}

void stopHeartbeat() {
  std::shared_ptr<Run> run;
  {
    Heart& one = heart();
    const std::lock_guard lock(one.mutex);
    run = std::move(one.run);
  }
  if (!run || run->pid != ::getpid()) {
    return;
  }
  std::unique_lock lock(run->mutex);
  run->stopAsked = true;
  run->changed.notify_all();
  run->changed.wait_for(lock, kStopPatience, [&] { return run->ended; });
}

}  // namespace meshfuse
