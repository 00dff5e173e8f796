// The key-value store of a process group, as meshfuse uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <c10/util/intrusive_ptr.h>

namespace c10d {
class Store;
}

namespace meshfuse {

/// The store does not answer any more: its host has ended, closed the connection or hangs.
struct StoreLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keys of meshfuse's own below a group's prefix in the store that the group was made with. No call waits for a key. The
/// host of the store can hang, and calls with it: make them through callWithin (bounded_call.h). Over TCP this is a
/// connection of its own, one for the process and server, so that it neither waits for torch's calls nor keeps torch's
/// server alive. The calls that talk to the host throw StoreLost. Safe to use from several threads.
class GroupStore {
 public:
  explicit GroupStore(const c10::intrusive_ptr<c10d::Store>& store);
  ~GroupStore();

  void set(const std::string& key, const std::string& value);
  /// The values of keys that all exist.
  std::vector<std::string> get(const std::vector<std::string>& keys);
  /// Whether all the keys exist.
  bool has(const std::vector<std::string>& keys);
  /// Adds to a counter that starts at zero; gives the sum.
  int64_t add(const std::string& key, int64_t increment);

  /// `127.0.0.1:29500`, or what kind of store it is.
  const std::string& address() const noexcept;
  /// Give the store up if its host has closed the connection. Asking this first spares the user torch's stack traces.
  void noticeHangUp();
  /// Make every later call throw StoreLost at once.
  void giveUp(const std::string& why);

 private:
  struct Connection;
  std::shared_ptr<Connection> connection_;
  std::string prefix_;
};

}  // namespace meshfuse
