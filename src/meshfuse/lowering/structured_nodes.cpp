#include "meshfuse/lowering/structured_nodes.h"

#include <cmath>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/clamp/op.h"

namespace meshfuse {

namespace {

/// A bound in the elements' type, and whether it is a constant.
struct Bound {
  NodeId node = -1;
  std::optional<Scalar> constant = std::nullopt;

  bool isNaN() const { return constant && std::isnan(constant->toDouble()); }
};

Bound boundOf(NodeBuilder& builder, NodeId operand, PrimType type) {
  const Node& given = builder.node(operand);
  if (given.kind != NodeKind::Constant) {
    return {builder.cast(operand, type)};
  }
  const Scalar number = ops::clamp::boundIn(type, given.constant);
  return {builder.constant(number, type), number};
}

/// `value`, or the bound where `compare(value, bound)`; a bound that is NaN is the result, as torch has it.
NodeId boundedBy(NodeBuilder& builder, std::string_view compare, NodeId value, const Bound& bound,
                 PrimType type) {
  NodeId isBeyond = builder.pointwise(compare, {value, bound.node}, {type, PrimType::Bool});
  if (!bound.constant && categoryOf(type) == TypeCategory::Floating) {
    const NodeId isNaN = builder.pointwise("isnan", {bound.node}, {type, PrimType::Bool});
    isBeyond = builder.arithmetic("logical_or", {isBeyond, isNaN}, PrimType::Bool);
  }
  return builder.arithmetic("where", {isBeyond, bound.node, value}, type);
}

NodeId clampNode(NodeBuilder& builder, std::span<const NodeId> operands, PrimType type) {
  const Bound low = boundOf(builder, operands[1], type);
  const Bound high = boundOf(builder, operands[2], type);
  if (low.isNaN() || high.isNaN()) {
    return low.isNaN() ? low.node : high.node;
  }
  const NodeId raised = boundedBy(builder, "lt", operands[0], low, type);
  return boundedBy(builder, "gt", raised, high, type);
}

}  // namespace

NodeId structuredNode(NodeBuilder& builder, Body body, std::span<const NodeId> operands,
                      PrimType type) {
  switch (body) {
    case Body::Copy:
      return builder.cast(operands.front(), type);
    case Body::Clamp:
      return clampNode(builder, operands, type);
  }
  throwInternal("each body is made of nodes");
}

}  // namespace meshfuse
