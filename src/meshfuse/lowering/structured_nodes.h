// Elementwise operations that are no row of pointwise.def, as nodes of a kernel's graph.
#pragma once

#include <span>

#include "meshfuse/lowering/node_builder.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

/// An element of the operation's output, of `type`, from those of its operands (numbers among them), in order.
NodeId structuredNode(NodeBuilder& builder, Body body, std::span<const NodeId> operands,
                      PrimType type);

}  // namespace meshfuse
