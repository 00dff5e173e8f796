#include "meshfuse/communication/group_use_on_axis.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/communication/deadline.h"
#include "meshfuse/communication/rendezvous.h"
#include "meshfuse/communication/suspects.h"

namespace meshfuse {
namespace {

std::optional<std::chrono::milliseconds> chosenDeadline(const MeshBinding& binding) {
  const std::optional<std::chrono::milliseconds> own = binding.deadline();
  return own ? own : defaultDeadline();
}

}  // namespace

std::chrono::milliseconds deadlineFor(const MeshBinding& binding, const LiveGroup& group,
                                      c10::DeviceType device) {
  const std::optional<std::chrono::milliseconds> chosen = chosenDeadline(binding);
  return chosen ? *chosen : group.timeout(device);
}

std::chrono::milliseconds deadlineFor(const MeshBinding& binding, const LiveGroup& group) {
  const std::optional<std::chrono::milliseconds> chosen = chosenDeadline(binding);
  return chosen ? *chosen : group.timeout();
}

void joinAxis(const MeshBinding& binding, int64_t axis, const GroupUse& use, const OpText& op,
              std::chrono::milliseconds deadline) {
  const std::vector<int64_t>& ranks = binding.ranksAlong(axis);
  const std::shared_ptr<const Membership> membership =
      meet(use, op, ranks, binding.rank(), deadline);
  if (std::ranges::equal(membership->members, ranks, {}, &ProcessIdentity::rank)) {
    return;
  }
  std::vector<int64_t> members;
  std::ranges::transform(membership->members, std::back_inserter(members), &ProcessIdentity::rank);
  throwUser(
      ErrorKind::Value,
      {op(), "the ranks of an axis's process group stand in the order of the mesh",
       "along axis " + std::to_string(axis) + " the mesh has ranks " +
           toText(std::span<const int64_t>(ranks)) + ", process group '" + use.state().name() +
           "' has " + toText(std::span<const int64_t>(members)),
       "make the mesh with ascending ranks along each axis, or the group in the mesh's order"});
}

std::string describeFault(GroupState& state, std::string_view errorText, bool timedOut) {
  const std::vector<Suspect> suspects = findSuspects(state, errorText, timedOut);
  return suspects.empty() ? std::string() : "; " + toText(suspects);
}

}  // namespace meshfuse
