// The members of a group find each other before its first use.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meshfuse/communication/group_state.h"

namespace meshfuse {

/// Exchange who is who through the group's store, once; gives the same membership from then on, and starts the heartbeat.
/// `ranks` are the global ranks that should be members, in the group's order; `self` is this process's global rank.
/// Throws UserError(Runtime) naming the ranks that do not come within the deadline; the group is then poisoned.
std::shared_ptr<const Membership> meet(const GroupUse& use, const OpText& op,
                                       const std::vector<int64_t>& ranks, int64_t self,
                                       std::chrono::milliseconds deadline);

}  // namespace meshfuse
