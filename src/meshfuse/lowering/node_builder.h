// Adds nodes to a kernel's graph; equal ones become one.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "meshfuse/lowering/kernel_graph.h"
#include "meshfuse/types/promotion.h"

namespace meshfuse {

class NodeBuilder {
 public:
  /// Completes the node with the loops and the phase that its operands give it.
  NodeId add(Node node);

  NodeId constant(Scalar value, PrimType type);
  /// Its place among the graph's.
  int32_t placeOf(GraphIndex index);
  /// A number of `type`, Int or Double.
  NodeId index(GraphIndex index, PrimType type);
  /// Whether the element lies in the part, which is a new one.
  NodeId inside(GraphPart part);
  /// The seed that the call draws.
  NodeId seed(ExprId call);
  /// `operand` itself where it has the type.
  NodeId cast(NodeId operand, PrimType type);
  /// Row `row` of pointwise.def.
  NodeId pointwise(int32_t row, std::vector<NodeId> operands, OpTypes types);
  /// The row `name`.
  NodeId pointwise(std::string_view name, std::vector<NodeId> operands, OpTypes types);
  /// The row `name` of operands that all have `type`, which is the result's as well.
  NodeId arithmetic(std::string_view name, std::vector<NodeId> operands, PrimType type);

  const Node& node(NodeId id) const { return graph_.node(id); }

 protected:
  KernelGraph graph_;

 private:
  using Key =
      std::tuple<NodeKind, PrimType, int32_t, std::vector<NodeId>, PrimType, ReduceKind, bool>;
  std::map<Key, NodeId> known_;
};

}  // namespace meshfuse
