// Elementwise operations that are no row of pointwise.def, as nodes of a kernel's graph.
#pragma once

#include <vector>

#include "meshfuse/lowering/node_builder.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

/// A call of such an operation, and the nodes of its operands, tensors and numbers in order.
struct ElementCall {
  const Fusion& fusion;
  const GroupCall& call;
  Body body = Body::Copy;
  std::vector<NodeId> operands;

  const Expr& expr() const { return fusion.expr(call.expr); }
  ValId output() const { return expr().outputs.front(); }
  PrimType type() const { return fusion.val(output()).dtype(); }
};

/// An element of the call's output.
NodeId structuredNode(NodeBuilder& builder, const ElementCall& call);

/// What sums of a type are kept in.
PrimType accumulatorOf(PrimType type) noexcept;

/// An element of a scan's result, of `type`. `operands`: the element, and the number to start from, if any.
NodeId scanNode(NodeBuilder& builder, ReduceKind kind, std::vector<NodeId> operands, PrimType type);

}  // namespace meshfuse
