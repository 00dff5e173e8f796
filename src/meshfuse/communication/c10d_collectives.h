// Collectives over torch's process groups.
#pragma once

#include <memory>

#include "meshfuse/communication/mesh_binding.h"
#include "meshfuse/evaluator/collectives.h"

namespace meshfuse {

/// Collectives of the binding's mesh. One local tensor a call; inputs are never written and may have any strides; results
/// are contiguous, an axis of size 1 gives the input back. The functions block (release the GIL before) and throw:
///   UserError(Value)          a dtype that the backend can't reduce this way, a dimension that does not divide
///   UserError(Runtime)        a rank that died, hung or did not come within the deadline (the group is then poisoned: every
///                             later call on it throws at once), a destroyed group, two threads on one group at once,
///                             ranks whose programs differ
Collectives makeCollectives(const std::shared_ptr<MeshBinding>& binding);

/// Let go of every process group and store, and end the heartbeat thread: before torch tears its groups down, a Gloo group
/// still held at exit aborts the process. Bindings by name find their group again at the next use; bindings to group
/// objects then throw the destroyed-group error. Safe to call at any time, and again.
void releaseGroups();

/// releaseGroups() for good: the process is ending, every later use throws.
void shutdownCommunication();

}  // namespace meshfuse
