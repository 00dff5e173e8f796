// All ranks of a mesh make sure that they are about to run the same program.
#pragma once

#include <cstdint>

#include "meshfuse/communication/group_state.h"
#include "meshfuse/communication/mesh_binding.h"

namespace meshfuse {

/// As Collectives::agree. Where the mesh's groups can exchange host memory, equal fingerprints are found equal with one
/// message an axis. Otherwise, and to find out who differs, ranks tell what they run through the stores of the groups, an axis
/// after the other. A rank that does not come within the deadline, or has ended, is named by all others and the mesh's groups
/// are poisoned; after a mere difference they can be used on.
void agree(MeshBinding& binding, uint64_t fingerprint, const OpText& what);

}  // namespace meshfuse
