#include "meshfuse/lowering/node_builder.h"

#include <algorithm>
#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

NodeId NodeBuilder::add(Node node) {
  for (NodeId operand : node.operands) {
    node.loops |= graph_.node(operand).loops;
    node.phase = std::max(node.phase, graph_.node(operand).phase);
  }
  if (node.kind == NodeKind::Fold) {
    node.loops &= ~graph_.reduced;
    ++node.phase;
  }
  if (node.kind == NodeKind::OuterFold) {
    node.loops &= graph_.reduced;
  }
  if (node.kind == NodeKind::Scan) {
    node.loops |= graph_.reduced;
  }
  if (node.kind == NodeKind::Constant) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }
  const Key key{node.kind,    node.type, node.index,  node.operands,
                node.compute, node.fold, node.squares};
  const auto [found, isNew] = known_.emplace(key, static_cast<NodeId>(graph_.nodes.size()));
  if (isNew) {
    graph_.nodes.push_back(std::move(node));
  }
  return found->second;
}

NodeId NodeBuilder::constant(Scalar value, PrimType type) {
  Node node;
  node.constant = value;
  node.type = type;
  return add(std::move(node));
}

int32_t NodeBuilder::placeOf(GraphIndex index) {
  const auto found = std::ranges::find(graph_.indices, index);
  const auto at = static_cast<int32_t>(found - graph_.indices.begin());
  if (found == graph_.indices.end()) {
    graph_.indices.push_back(std::move(index));
  }
  return at;
}

NodeId NodeBuilder::index(GraphIndex index, PrimType type) {
  Node node;
  node.kind = NodeKind::Index;
  node.type = type;
  node.loops = maskOf(index.loops);
  node.index = placeOf(std::move(index));
  return add(std::move(node));
}

NodeId NodeBuilder::inside(GraphPart part) {
  Node node;
  node.kind = NodeKind::Inside;
  node.type = PrimType::Bool;
  node.index = static_cast<int32_t>(graph_.parts.size());
  for (const auto& [dim, index] : part.bounds) {
    node.loops |= maskOf(graph_.indices[static_cast<size_t>(index)].loops);
  }
  graph_.parts.push_back(std::move(part));
  return add(std::move(node));
}

NodeId NodeBuilder::seed(ExprId call) {
  Node node;
  node.kind = NodeKind::Seed;
  node.type = PrimType::Int;
  node.index = static_cast<int32_t>(graph_.seeds.size());
  graph_.seeds.push_back(call);
  return add(std::move(node));
}

NodeId NodeBuilder::cast(NodeId operand, PrimType type) {
  if (graph_.node(operand).type == type) {
    return operand;
  }
  Node node;
  node.kind = NodeKind::Cast;
  node.type = type;
  node.operands = {operand};
  return add(std::move(node));
}

NodeId NodeBuilder::pointwise(int32_t row, std::vector<NodeId> operands, OpTypes types) {
  Node node;
  node.kind = NodeKind::Pointwise;
  node.index = row;
  node.type = types.result;
  node.compute = types.compute;
  node.operands = std::move(operands);
  return add(std::move(node));
}

NodeId NodeBuilder::pointwise(std::string_view name, std::vector<NodeId> operands, OpTypes types) {
  return pointwise(findOp(name)->pointwiseRow, std::move(operands), types);
}

NodeId NodeBuilder::arithmetic(std::string_view name, std::vector<NodeId> operands, PrimType type) {
  return pointwise(name, std::move(operands), {type, type});
}

}  // namespace meshfuse
