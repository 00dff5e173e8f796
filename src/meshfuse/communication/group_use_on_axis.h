// Using the group of a mesh axis: how long it may take, who takes part, what went wrong.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <c10/core/DeviceType.h>

#include "meshfuse/communication/group_state.h"
#include "meshfuse/communication/mesh_binding.h"

namespace meshfuse {

/// The binding's deadline, else the default (deadline.h), else the group's own timeout for tensors on `device`; without a
/// device, for any its backends know.
std::chrono::milliseconds deadlineFor(const MeshBinding& binding, const LiveGroup& group,
                                      c10::DeviceType device);
std::chrono::milliseconds deadlineFor(const MeshBinding& binding, const LiveGroup& group);

/// Let the group's members meet (rendezvous.h) and check that they stand in the mesh's order along the axis: on all members
/// UserError(Value) if not.
void joinAxis(const MeshBinding& binding, int64_t axis, const GroupUse& use, const OpText& op,
              std::chrono::milliseconds deadline);

/// Whom to blame for a fault on the group, as a text to go after what is known: `; rank 1 has ended (…)`, or empty.
std::string describeFault(GroupState& state, std::string_view errorText, bool timedOut);

}  // namespace meshfuse
