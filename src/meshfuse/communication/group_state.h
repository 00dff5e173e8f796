// What meshfuse knows about one process group: whether it is in use, what broke it, who its members are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "meshfuse/communication/c10d_group.h"
#include "meshfuse/communication/local_process.h"

namespace meshfuse {

/// Makes the first part of an error's text, when there is an error.
using OpText = std::function<std::string()>;

/// How the members of a group found each other.
struct Membership {
  /// Counts the times the members have met under this store: keys of an earlier life don't reach a later one.
  int64_t incarnation = 0;
  /// By group rank.
  std::vector<ProcessIdentity> members;

  std::string key(const char* what, int64_t groupRank) const;
  std::vector<std::string> keys(const char* what) const;
};

/// One per group object and process, shared by all bindings that use the group.
class GroupState {
 public:
  /// The state of the group that `ref` refers to, made at first sight. A held ref makes the state hold the group.
  static std::shared_ptr<GroupState> of(GroupRef ref);
  /// The states of all groups that are still alive; none in a fork. Lets go of the others.
  static std::vector<std::shared_ptr<GroupState>> all();

  /// Tells group objects apart, also such that come after each other under one name.
  uint64_t id() const noexcept { return id_; }
  const std::string& name() const noexcept { return name_; }
  int64_t size() const noexcept { return size_; }
  int64_t groupRank() const noexcept { return groupRank_; }

  bool isAlive() const;
  /// Drop the group object and the store. Members and counts stay: the other ranks keep theirs.
  void release();

  /// Null before the members have met.
  std::shared_ptr<const Membership> membership() const;
  void setMembership(std::shared_ptr<const Membership> membership);

  /// The group's store; null before it is opened and after release().
  std::shared_ptr<GroupStore> store() const;
  std::shared_ptr<GroupStore> openStore(const LiveGroup& group);

  /// Collectives and agreements this process has entered on the group; the same on all ranks that keep in step.
  int64_t entered() const noexcept { return entered_.load(std::memory_order_relaxed); }
  int64_t agreements = 0;  // by the one use at a time

  /// Keep the first fault's text; every later use throws it.
  void poison(const std::string& fault);
  std::optional<std::string> fault() const;

 private:
  friend class GroupUse;
  explicit GroupState(GroupRef ref);

  const uint64_t id_;
  const std::string name_;
  int64_t size_ = 0;
  int64_t groupRank_ = 0;
  const int64_t pid_;
  std::atomic<int64_t> entered_{0};
  std::atomic<bool> busy_{false};

  mutable std::mutex mutex_;  // the members below; never held over a call into torch that may block
  GroupRef ref_;
  std::shared_ptr<const Membership> membership_;
  std::shared_ptr<GroupStore> store_;
  std::optional<std::string> fault_;
};

/// The right to use a group: one at a time, on a group that is alive and well.
class GroupUse {
 public:
  /// `op` gives the text that says what for. Throws UserError(Runtime) when the group is poisoned, destroyed, in use by another thread, or was
  /// inherited through a fork.
  GroupUse(GroupState& state, const OpText& op);
  ~GroupUse();
  GroupUse(const GroupUse&) = delete;
  GroupUse& operator=(const GroupUse&) = delete;

  GroupState& state() const noexcept { return state_; }
  const LiveGroup& group() const noexcept { return *group_; }

 private:
  GroupState& state_;
  std::optional<LiveGroup> group_;
};

}  // namespace meshfuse
