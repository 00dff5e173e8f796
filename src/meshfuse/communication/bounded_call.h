// Calls that may hang, made so that the caller does not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace meshfuse {

/// Run `function` on a thread of its own; nullopt when it has not come back by `until`, and then its thread is left behind.
/// So `function` owns, or shares ownership of, everything it touches. What it throws in time is thrown here.
template <class Result>
std::optional<Result> callWithin(std::chrono::steady_clock::time_point until,
                                 std::function<Result()> function) {
  struct Slot {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<Result> result;
    std::exception_ptr error;
  };
  const auto slot = std::make_shared<Slot>();
  std::thread([slot, function = std::move(function)] {
    std::optional<Result> result;
    std::exception_ptr error;
    try {
      result = function();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(slot->mutex);
    slot->result = std::move(result);
    slot->error = error;
    slot->done.notify_all();
  }).detach();
  std::unique_lock lock(slot->mutex);
  slot->done.wait_until(lock, until, [&] { return slot->result || slot->error; });
  if (slot->error) {
    std::rethrow_exception(slot->error);
  }
  return std::move(slot->result);
}

}  // namespace meshfuse
