#include "meshfuse/communication/group_state.h"

#include <algorithm>

#include <unistd.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::shared_ptr<GroupState>> states;
  uint64_t made = 0;
  int64_t pid = ::getpid();
};

// Never destroyed: threads of torch's may outlive this library's destructors.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

}  // namespace

std::string Membership::key(const char* what, int64_t groupRank) const {
  return std::to_string(incarnation) + "/" + what + "/" + std::to_string(groupRank);
}

std::vector<std::string> Membership::keys(const char* what) const {
  std::vector<std::string> out;
  for (int64_t groupRank = 0; groupRank < static_cast<int64_t>(members.size()); ++groupRank) {
    out.push_back(key(what, groupRank));
  }
  return out;
}

GroupState::GroupState(GroupRef ref)
    : id_(++registry().made), name_(ref.name()), pid_(::getpid()), ref_(std::move(ref)) {
  const LiveGroup group = ref_.lock();
  size_ = group.size();
  groupRank_ = group.rank();
}

std::shared_ptr<GroupState> GroupState::of(GroupRef ref) {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::shared_ptr<GroupState>>& states = registry().states;
  for (const std::shared_ptr<GroupState>& state : states) {
    const std::lock_guard stateLock(state->mutex_);
    if (state->ref_.sameObject(ref)) {
      if (ref.isHeld() || !state->ref_.isAlive()) {
        state->ref_ = std::move(ref);
      }
      return state;
    }
  }
  states.emplace_back(new GroupState(std::move(ref)));
  return states.back();
}

std::vector<std::shared_ptr<GroupState>> GroupState::all() {
  std::vector<std::shared_ptr<GroupState>> alive;
  std::vector<std::shared_ptr<GroupState>> gone;
  if (registry().pid != ::getpid()) {
    return alive;  // in a fork, whose parent may have held the mutex at that moment
  }
  {
    const std::lock_guard lock(registry().mutex);
    for (std::shared_ptr<GroupState>& state : registry().states) {
      (state->isAlive() ? alive : gone).push_back(std::move(state));
    }
    registry().states = alive;
  }
  for (const std::shared_ptr<GroupState>& state : gone) {
    state->release();
  }
  return alive;
}

bool GroupState::isAlive() const {
  const std::lock_guard lock(mutex_);
  return ref_.isAlive();
}

void GroupState::release() {
  std::shared_ptr<GroupStore> dropped;  // closes its connection outside the lock
  const std::lock_guard lock(mutex_);
  dropped = std::move(store_);
  ref_.release();
}

std::shared_ptr<GroupStore> GroupState::store() const {
  const std::lock_guard lock(mutex_);
  return store_;
}

std::shared_ptr<GroupStore> GroupState::openStore(const LiveGroup& group) {
  const std::lock_guard lock(mutex_);
  if (!store_) {
    store_ = group.openStore();
  }
  return store_;
}

std::shared_ptr<const Membership> GroupState::membership() const {
  const std::lock_guard lock(mutex_);
  return membership_;
}

void GroupState::setMembership(std::shared_ptr<const Membership> membership) {
  const std::lock_guard lock(mutex_);
  membership_ = std::move(membership);
}

void GroupState::poison(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (!fault_) {
    fault_ = fault;
  }
}

std::optional<std::string> GroupState::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

GroupUse::GroupUse(GroupState& state, const OpText& op) : state_(state) {
  if (::getpid() != state.pid_) {
    throwUser(ErrorKind::Runtime,
              {op(), "a process group is used by the process that made it",
               "process " + std::to_string(::getpid()) + " is a fork of process " +
                   std::to_string(state.pid_) + ", which made group '" + state.name() + "'",
               "start ranks by spawning (torchrun, or multiprocessing's spawn), not by forking"});
  }
  if (const std::optional<std::string> fault = state.fault()) {
    throwUser(ErrorKind::Runtime,
              {op(), "a process group is not used again after a fault",
               "group '" + state.name() + "' failed before: " + *fault,
               "destroy the process group and make a new one, or restart the ranks"});
  }
  if (state.busy_.exchange(true, std::memory_order_acquire)) {
    throwUser(
        ErrorKind::Runtime,
        {op(),
         "calls on one process group come one after the other, in the same order on all ranks",
         "another thread is using group '" + state.name() + "' at this moment",
         "make distributed calls from one thread, or give each thread a mesh with groups of its "
         "own"});
  }
  try {
    const std::lock_guard lock(state.mutex_);
    group_.emplace(state.ref_.lock());
  } catch (...) {
    state.busy_.store(false, std::memory_order_release);
    throw;
  }
  state.entered_.fetch_add(1, std::memory_order_relaxed);
}

GroupUse::~GroupUse() { state_.busy_.store(false, std::memory_order_release); }

}  // namespace meshfuse
