#include "meshfuse/lowering/structured_nodes.h"

#include <cmath>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/lowering/random_nodes.h"
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
  if (categoryOf(type) == TypeCategory::Floating && (!bound.constant || bound.isNaN())) {
    const NodeId isNaN = builder.pointwise("isnan", {bound.node}, {type, PrimType::Bool});
    isBeyond = builder.arithmetic("logical_or", {isBeyond, isNaN}, PrimType::Bool);
  }
  return builder.arithmetic("where", {isBeyond, bound.node, value}, type);
}

NodeId clampNode(NodeBuilder& builder, const ElementCall& call) {
  const PrimType type = call.type();
  const Bound low = boundOf(builder, call.operands[1], type);
  const Bound high = boundOf(builder, call.operands[2], type);
  const NodeId raised = boundedBy(builder, "lt", call.operands[0], low, type);
  return boundedBy(builder, "gt", raised, high, type);
}

/// A number in another type: a constant stays one.
NodeId numberIn(NodeBuilder& builder, NodeId number, PrimType type) {
  const Node& node = builder.node(number);
  return node.kind == NodeKind::Constant ? builder.constant(Scalar(node.constant), type)
                                         : builder.cast(number, type);
}

/// start + i * step, in Int or Double, rounded once.
NodeId iotaNode(NodeBuilder& builder, const ElementCall& call) {
  const PrimType type = call.type();
  const PrimType wide =
      categoryOf(type) == TypeCategory::Integral ? PrimType::Int : PrimType::Double;
  const NodeId position = builder.index({call.output(), call.call.outputs.front(), {}}, wide);
  const NodeId start = numberIn(builder, call.operands[0], wide);
  const NodeId step = numberIn(builder, call.operands[1], wide);
  const NodeId steps = builder.arithmetic("mul", {position, step}, wide);
  return builder.cast(builder.arithmetic("add", {steps, start}, wide), type);
}

/// What lies in a column that is at least `diagonal` behind that of the row's own element.
NodeId triangleNode(NodeBuilder& builder, const ElementCall& call) {
  const DimLoops& loops = call.call.outputs.front();
  std::vector<int64_t> strides(loops.size(), 0);
  strides[strides.size() - 2] = -1;
  strides[strides.size() - 1] = 1;
  const NodeId behind = builder.index({call.output(), loops, std::move(strides)}, PrimType::Int);
  const NodeId diagonal =
      builder.constant(std::get<Scalar>(call.expr().args[1]).toInt(), PrimType::Int);
  const NodeId isKept =
      builder.pointwise("ge", {behind, diagonal}, {PrimType::Int, PrimType::Bool});
  const NodeId zero = builder.constant(Scalar(0), call.type());
  return builder.arithmetic("where", {isKept, call.operands.front(), zero}, call.type());
}

/// What running sums and products are kept in, as torch does.
PrimType runningTypeOf(PrimType type) {
  switch (type) {
    case PrimType::Bool:
      return PrimType::Int;
    case PrimType::Float:
      return PrimType::Double;
    case PrimType::ComplexFloat:
      return PrimType::ComplexDouble;
    default:
      return accumulatorOf(type);
  }
}

}  // namespace

PrimType accumulatorOf(PrimType type) noexcept {
  return isReducedFloat(type) ? PrimType::Float : type;
}

NodeId scanNode(NodeBuilder& builder, ReduceKind kind, std::vector<NodeId> operands,
                PrimType type) {
  const bool compares = kind == ReduceKind::Max || kind == ReduceKind::Min;
  for (NodeId& operand : operands) {
    operand = builder.cast(operand, type);
  }
  Node node;
  node.kind = NodeKind::Scan;
  node.fold = kind;
  node.compute = compares ? accumulatorOf(type) : runningTypeOf(type);
  node.type = type;
  node.operands = std::move(operands);
  return builder.add(std::move(node));
}

NodeId structuredNode(NodeBuilder& builder, const ElementCall& call) {
  switch (call.body) {
    case Body::Copy:
      return builder.cast(call.operands.front(), call.type());
    case Body::Clamp:
      return clampNode(builder, call);
    case Body::Triangle:
      return triangleNode(builder, call);
    case Body::Constant:
      return numberIn(builder, call.operands.front(), call.type());
    case Body::Iota:
      return iotaNode(builder, call);
    case Body::Uniform:
    case Body::Normal:
    case Body::UniformLike:
    case Body::NormalLike:
      return randomNode(builder, call);
    case Body::Take:
    case Body::Select:
    case Body::Embedding:
    case Body::Slice:
    case Body::Pad:
    case Body::Cat:
      break;  // reads, which the graph keeps
  }
  throwInternal("each body is made of nodes");
}

}  // namespace meshfuse
