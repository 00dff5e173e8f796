// Random numbers as nodes of a kernel's graph.
#pragma once

#include "meshfuse/lowering/structured_nodes.h"

namespace meshfuse {

/// The element of a call whose body is one of the random ones, by its index in the row-major order of the output.
NodeId randomNode(NodeBuilder& builder, const ElementCall& call);

}  // namespace meshfuse
