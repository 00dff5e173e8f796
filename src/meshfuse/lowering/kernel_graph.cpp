#include "meshfuse/lowering/kernel_graph.h"

#include <algorithm>
#include <unordered_map>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/lowering/node_builder.h"
#include "meshfuse/lowering/structured_nodes.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

namespace {

/// What sums of a type are kept in.
PrimType accumulatorOf(PrimType type) { return isReducedFloat(type) ? PrimType::Float : type; }

class GraphBuilder : private NodeBuilder {
 public:
  GraphBuilder(const Fusion& fusion, const Group& group) : fusion_(fusion), group_(group) {
    graph_.loopCount = static_cast<int32_t>(group.loops.size());
    for (size_t i = 0; i < group.loops.size(); ++i) {
      graph_.reduced |= group.loops[i].isReduced ? LoopMask{1} << i : 0;
    }
  }

  KernelGraph build() && {
    for (const GroupCall& call : group_.calls) {
      addCall(call);
    }
    for (ValId val : group_.outputs) {
      const auto& [node, loops] = made_.at(indexOf(val));
      graph_.writes.push_back({val, fusion_.val(val).dtype(), loops, node});
    }
    return std::move(graph_);
  }

 private:
  NodeId fold(ReduceKind kind, NodeId operand, PrimType accumulator, PrimType result) {
    if (!isFolding_) {
      return cast(cast(operand, accumulator), result);
    }
    Node node;
    node.kind = NodeKind::Fold;
    node.fold = kind;
    node.compute = accumulator;
    node.type = result;
    node.operands = {operand};
    return add(std::move(node));
  }

  /// With `positions` (one or none) it is read at one along dimension `pickedDim`.
  NodeId read(ValId val, const DimLoops& loops, std::vector<NodeId> positions = {},
              int64_t pickedDim = -1, bool wraps = false) {
    const auto same = [&](const GraphTensor& tensor) {
      return tensor.val == val && tensor.loops == loops && tensor.pickedDim == pickedDim &&
             tensor.wraps == wraps;
    };
    auto found = std::ranges::find_if(graph_.reads, same);
    if (found == graph_.reads.end()) {
      graph_.reads.push_back({val, fusion_.val(val).dtype(), loops, -1, pickedDim, wraps});
      found = graph_.reads.end() - 1;
    }
    Node node;
    node.kind = positions.empty() ? NodeKind::Read : NodeKind::Pick;
    node.operands = std::move(positions);
    node.index = static_cast<int32_t>(found - graph_.reads.begin());
    node.type = found->type;
    node.loops = maskOf(loops);
    return add(std::move(node));
  }

  NodeId number(ValId val) {
    const ScalarType& type = fusion_.val(val).scalar();
    if (type.constant) {
      return constant(*type.constant, type.dtype);
    }
    const auto found = std::ranges::find(graph_.numbers, val);
    Node node;
    node.kind = NodeKind::Number;
    node.type = type.dtype;
    node.index = static_cast<int32_t>(found - graph_.numbers.begin());
    if (found == graph_.numbers.end()) {
      graph_.numbers.push_back(val);
    }
    return add(std::move(node));
  }

  NodeId operandNode(const Arg& arg, const GroupCall& call, size_t& tensor) {
    if (const Scalar* value = std::get_if<Scalar>(&arg)) {
      return constant(*value, value->type());
    }
    const ValId val = std::get<ValId>(arg);
    if (!fusion_.val(val).isTensor()) {
      return number(val);
    }
    const DimLoops& loops = call.operands[tensor++];
    const auto found = made_.find(indexOf(val));
    return found != made_.end() ? found->second.first : read(val, loops);
  }

  void addCall(const GroupCall& call) {
    const Expr& expr = fusion_.expr(call.expr);
    const OpInfo& op = infoOf(*expr.op);
    const LoopForm form = loopFormOf(*expr.op);
    if (const std::optional<PickedOperand> picked = pickedOperandOf(expr, form.body)) {
      made_.emplace(indexOf(expr.outputs.front()),
                    std::pair(pick(call, form.body, *picked), call.outputs.front()));
      return;
    }
    std::vector<NodeId> operands;
    size_t tensor = 0;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      const ParamKind kind = op.params[i].kind;
      const bool mayBeNumber = kind == ParamKind::Operand || kind == ParamKind::Value;
      if (kind == ParamKind::Tensor || (mayBeNumber && isValue(expr.args[i]))) {
        operands.push_back(operandNode(expr.args[i], call, tensor));
      }
    }
    std::vector<NodeId> results;
    if (form.kind == LoopForm::Kind::Reduction) {
      isFolding_ = (maskOf(call.operands.front()) & ~maskOf(call.outputs.front())) != 0;
      results = foldsOf(expr, form.fold, operands.front());
    } else if (op.isPointwise()) {
      const std::vector<TensorType> tensors = tensorOperands(fusion_, expr.args);
      results = {pointwise(op.pointwiseRow, operands,
                           pointwiseTypes({&op, &fusion_, expr.args, tensors}))};
    } else {
      results = {structuredNode(*this, {fusion_, call, form.body, operands})};
    }
    for (size_t i = 0; i < expr.outputs.size(); ++i) {
      made_.emplace(indexOf(expr.outputs[i]), std::pair(results[i], call.outputs[i]));
    }
  }

  /// Two operands, one of which is read where the other says.
  NodeId pick(const GroupCall& call, Body body, PickedOperand picked) {
    const Expr& expr = fusion_.expr(call.expr);
    size_t tensor = picked.operand == 0 ? 1 : 0;
    const NodeId position =
        cast(operandNode(expr.args[1 - picked.operand], call, tensor), PrimType::Int);
    return read(std::get<ValId>(expr.args[picked.operand]), call.operands[picked.operand],
                {position}, static_cast<int64_t>(picked.dim), body == Body::Select);
  }

  static bool isValue(const Arg& arg) {
    return std::holds_alternative<ValId>(arg) || std::holds_alternative<Scalar>(arg);
  }

  std::vector<NodeId> foldsOf(const Expr& expr, Fold form, NodeId operand) {
    const PrimType result = fusion_.val(expr.outputs.front()).dtype();
    switch (form) {
      case Fold::Sum:
        return {fold(ReduceKind::Sum, operand, accumulatorOf(result), result)};
      case Fold::Product:
        return {fold(ReduceKind::Product, operand, accumulatorOf(result), result)};
      case Fold::Max:
        return {fold(ReduceKind::Max, operand, accumulatorOf(result), result)};
      case Fold::Min:
        return {fold(ReduceKind::Min, operand, accumulatorOf(result), result)};
      default:
        return deviationsOf(expr, form, operand, result);
    }
  }

  /// Mean, then the sum of squared deviations from it: two passes, as exact as the data allow.
  std::vector<NodeId> deviationsOf(const Expr& expr, Fold form, NodeId operand, PrimType result) {
    const PrimType type = graph_.node(operand).type;
    const bool isComplex = categoryOf(type) == TypeCategory::Complex;
    const PrimType wide = isComplex ? type : accumulatorOf(result);
    const PrimType real = realTypeOf(wide);
    Node countNode;
    countNode.kind = NodeKind::Count;
    countNode.type = PrimType::Int;
    const NodeId count = add(std::move(countNode));
    const NodeId value = cast(operand, wide);
    const NodeId elements = cast(cast(count, real), wide);
    const NodeId mean =
        arithmetic("truediv", {fold(ReduceKind::Sum, value, wide, wide), elements}, wide);
    const NodeId deviation = arithmetic("sub", {value, mean}, wide);
    // Where the results differ in type, the variance of complex numbers is that of their distances.
    const bool isMagnitude = isComplex && categoryOf(result) != TypeCategory::Complex;
    const PrimType squareType = isMagnitude ? real : wide;
    const NodeId square = isMagnitude ? squaredMagnitude(deviation, {wide, real})
                                      : arithmetic("mul", {deviation, deviation}, wide);
    const NodeId squares = fold(ReduceKind::Sum, square, squareType, squareType);
    if (form == Fold::Welford) {
      // Without elements the mean is zero, not a quotient of zeros.
      const NodeId isEmpty = pointwise("eq", {count, constant(Scalar(0), PrimType::Int)},
                                       {PrimType::Int, PrimType::Bool});
      const NodeId zero = constant(Scalar(0.0), wide);
      const NodeId average = arithmetic("where", {isEmpty, zero, mean}, wide);
      return {cast(average, result), cast(squares, result), count};
    }
    const NodeId correction = constant(std::get<Scalar>(expr.args[2]), PrimType::Int);
    const NodeId freedom = arithmetic(
        "maximum",
        {arithmetic("sub", {count, correction}, PrimType::Int), constant(Scalar(0), PrimType::Int)},
        PrimType::Int);
    const NodeId variance = arithmetic("truediv", {squares, cast(freedom, squareType)}, squareType);
    if (form == Fold::Variance) {
      return {cast(variance, result)};
    }
    return {cast(variance, result), cast(mean, fusion_.val(expr.outputs[1]).dtype())};
  }

  /// Of a complex number, in its real type.
  NodeId squaredMagnitude(NodeId operand, OpTypes types) {
    const NodeId re = pointwise("real", {operand}, types);
    const NodeId im = pointwise("imag", {operand}, types);
    return arithmetic(
        "add",
        {arithmetic("mul", {re, re}, types.result), arithmetic("mul", {im, im}, types.result)},
        types.result);
  }

  const Fusion& fusion_;
  const Group& group_;
  /// Whether the reduction that is added has elements to fold: dimensions of one element have no loops.
  bool isFolding_ = false;
  std::unordered_map<uint32_t, std::pair<NodeId, DimLoops>> made_;
};

std::string maskText(LoopMask mask) {
  std::vector<std::string> names;
  for (int loop = 0; mask >> loop != 0; ++loop) {
    if (((mask >> loop) & 1U) != 0) {
      names.push_back("l" + std::to_string(loop));
    }
  }
  return "[" + joinText(names, ", ") + "]";
}

}  // namespace

LoopMask maskOf(const DimLoops& dims) noexcept {
  LoopMask mask = 0;
  for (const std::vector<LoopId>& loops : dims) {
    for (LoopId loop : loops) {
      mask |= LoopMask{1} << loop;
    }
  }
  return mask;
}

KernelGraph buildGraph(const Fusion& fusion, const Group& group) {
  return GraphBuilder(fusion, group).build();
}

int64_t workOf(const Node& node) {
  switch (node.kind) {
    case NodeKind::Pointwise: {
      // Calls of functions show in the device text as letters before a parenthesis; the rest is operators.
      const std::string_view text = pointwiseRows()[static_cast<size_t>(node.index)].device;
      const size_t call = text.find('(', 1);
      const bool isFunction = call != std::string_view::npos && call > 0 &&
                              std::isalpha(static_cast<unsigned char>(text[call - 1])) != 0;
      return isFunction ? 12 : 1;
    }
    case NodeKind::Cast:
    case NodeKind::Fold:
    case NodeKind::Index:
      return 1;
    case NodeKind::Pick:
      return 4;
    case NodeKind::Uniform:
      return 40;
    case NodeKind::Normal:
      return 80;
    default:
      return 0;
  }
}

bool dividesIntegers(const Node& node) {
  return node.kind == NodeKind::Pointwise &&
         dividesWholeNumbers(pointwiseRows()[static_cast<size_t>(node.index)], node.compute);
}

bool dividesFloats(const Node& node) {
  return node.kind == NodeKind::Pointwise && categoryOf(node.compute) == TypeCategory::Floating &&
         pointwiseRows()[static_cast<size_t>(node.index)].device == "(divide(x0, x1))";
}

std::string toText(const Node& node) {
  std::vector<std::string> operands;
  for (NodeId operand : node.operands) {
    operands.push_back("n" + std::to_string(operand));
  }
  const std::string list = "(" + joinText(operands, ", ") + ")";
  switch (node.kind) {
    case NodeKind::Read:
      return "read " + std::to_string(node.index);
    case NodeKind::Number:
      return "number " + std::to_string(node.index);
    case NodeKind::Constant:
      return node.constant.toText();
    case NodeKind::Pointwise:
      return std::string(pointwiseRows()[static_cast<size_t>(node.index)].name) + list;
    case NodeKind::Cast:
      return "cast" + list;
    case NodeKind::Fold:
      return "fold " + std::string(nameOf(node.fold)) + list;
    case NodeKind::Count:
      return "count";
    case NodeKind::Index:
      return "index " + std::to_string(node.index);
    case NodeKind::Seed:
      return "seed " + std::to_string(node.index);
    case NodeKind::Pick:
      return "pick " + std::to_string(node.index) + list;
    case NodeKind::Uniform:
      return "uniform" + list;
    case NodeKind::Normal:
      return "normal" + list;
  }
  return {};
}

std::string toText(const KernelGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text += "n" + std::to_string(i) + ": " + std::string(nameOf(node.type)) + " = " + toText(node) +
            " " + maskText(node.loops) + "\n";
  }
  for (const GraphTensor& write : graph.writes) {
    text += "write n" + std::to_string(write.node) + "\n";
  }
  return text;
}

}  // namespace meshfuse
