#include "meshfuse/lowering/kernel_graph.h"

#include <algorithm>
#include <unordered_map>

#include "meshfuse/base/error.h"
#include "meshfuse/lowering/node_builder.h"
#include "meshfuse/lowering/structured_nodes.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/scheduling/call_loops.h"
#include "meshfuse/scheduling/loop_conditions.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

namespace {

ReduceKind reduceKindOf(Fold fold) {
  switch (fold) {
    case Fold::Product:
      return ReduceKind::Product;
    case Fold::Max:
      return ReduceKind::Max;
    case Fold::Min:
      return ReduceKind::Min;
    default:
      return ReduceKind::Sum;
  }
}

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

  /// The sum of `operand`, of `type`, or of its squares, by a whole number. One of floats is finite where the quotient is.
  NodeId meanOf(NodeId operand, bool squares, NodeId count, PrimType type) {
    const NodeId divisor = cast(cast(count, realTypeOf(type)), type);
    if (!isFolding_ || type != PrimType::Float) {
      return arithmetic("truediv", {sumOf(operand, squares, type), divisor}, type);
    }
    Node node;
    node.kind = NodeKind::Fold;
    node.squares = squares;
    node.compute = type;
    node.type = type;
    node.operands = {operand, count};
    return add(std::move(node));
  }

  NodeId sumOf(NodeId operand, bool squares, PrimType type) {
    const NodeId term = squares ? arithmetic("mul", {operand, operand}, type) : operand;
    return fold(ReduceKind::Sum, term, type, type);
  }

  NodeId read(ValId val, const DimLoops& loops) {
    return read({val, fusion_.val(val).dtype(), loops}, NodeKind::Read, {});
  }

  NodeId read(GraphTensor wanted, NodeKind kind, std::vector<NodeId> operands) {
    auto found = std::ranges::find(graph_.reads, wanted);
    if (found == graph_.reads.end()) {
      graph_.reads.push_back(std::move(wanted));
      found = graph_.reads.end() - 1;
    }
    Node node;
    node.kind = kind;
    node.operands = std::move(operands);
    node.index = static_cast<int32_t>(found - graph_.reads.begin());
    node.type = found->type;
    node.loops = maskOf(found->loops);
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
    if (readsShifted(form.body)) {
      made_.emplace(indexOf(expr.outputs.front()),
                    std::pair(shifted(call, form.body), call.outputs.front()));
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
      const LoopMask folded = maskOf(call.operands.front()) & ~maskOf(call.outputs.front());
      isFolding_ = folded != 0;
      results = (folded & ~graph_.reduced) != 0 ? outerSum(expr, operands.front())
                                                : foldsOf(expr, form.fold, operands.front());
    } else if (form.kind == LoopForm::Kind::Scan) {
      const PrimType type = fusion_.val(expr.outputs.front()).dtype();
      results = {scanNode(*this, reduceKindOf(form.fold), operands, type)};
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
    const auto val = std::get<ValId>(expr.args[picked.operand]);
    return read({val, fusion_.val(val).dtype(), call.operands[picked.operand], -1,
                 static_cast<int64_t>(picked.dim), body == Body::Select},
                NodeKind::Pick, {position});
  }

  /// Each operand where it lies in the output, and the number that is around a padded one.
  NodeId shifted(const GroupCall& call, Body body) {
    const Expr& expr = fusion_.expr(call.expr);
    const PrimType type = fusion_.val(expr.outputs.front()).dtype();
    const std::vector<ValId> tensors = tensorsOf(fusion_, expr);
    const DimMap map = dimMapOf(fusion_, expr);
    std::optional<NodeId> rest;
    if (body == Body::Pad) {
      const Scalar* value = std::get_if<Scalar>(&expr.args[2]);
      const std::optional<Scalar> number = constantOf(fusion_, expr.args[2]);
      rest = constant(value != nullptr ? *value : number.value_or(Scalar(0)), type);
    }
    for (size_t i = tensors.size(); i-- > 0;) {
      const ShiftPath path{{call.expr, i}};
      GraphPart part{tensors[i], {}};
      for (size_t dim = 0; dim < map.inputs[i].size(); ++dim) {
        if (body != Body::Slice && map.inputs[i][dim] != map.outputs.front()[dim]) {
          std::vector<int64_t> strides(map.inputs[i].size(), 0);
          strides[dim] = 1;
          DimLoops loops(strides.size());
          loops[dim] = call.outputs.front()[dim];
          part.bounds.emplace_back(
              dim, placeOf({expr.outputs.front(), loops, std::move(strides), path}));
        }
      }
      std::optional<NodeId> isInside;
      if (!part.bounds.empty()) {
        isInside = inside(std::move(part));
      }
      const NodeId value = shiftedValue(tensors[i], call, call.operands[i], path, isInside);
      // Beyond all others lies the last one.
      rest = rest && isInside ? arithmetic("where", {*isInside, value, *rest}, type) : value;
    }
    return *rest;
  }

  NodeId shiftedValue(ValId val, const GroupCall& call, const DimLoops& loops, ShiftPath path,
                      std::optional<NodeId> isInside) {
    const ExprId definition = fusion_.val(val).definition;
    if (definition == kNoExpr ||
        std::ranges::find(call.absorbed, definition) == call.absorbed.end()) {
      GraphTensor tensor{val, fusion_.val(val).dtype(), loops};
      tensor.shift = std::move(path);
      return isInside ? read(std::move(tensor), NodeKind::Masked, {*isInside})
                      : read(std::move(tensor), NodeKind::Read, {});
    }
    const Expr& expr = fusion_.expr(definition);
    if (loopFormOf(*expr.op).body == Body::Slice) {
      path.push_back({definition, 0});
      return shiftedValue(std::get<ValId>(expr.args[0]), call, loops, std::move(path), isInside);
    }
    const OpInfo& op = infoOf(*expr.op);
    std::vector<NodeId> operands;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      const ValId* operand = std::get_if<ValId>(&expr.args[i]);
      if (operand != nullptr && fusion_.val(*operand).isTensor()) {
        operands.push_back(shiftedValue(*operand, call, loops, path, isInside));
      } else if (op.params[i].kind == ParamKind::Operand) {
        const Scalar* value = std::get_if<Scalar>(&expr.args[i]);
        operands.push_back(value != nullptr ? constant(*value, value->type()) : number(*operand));
      }
    }
    if (!op.isPointwise()) {
      return cast(operands.front(), fusion_.val(val).dtype());
    }
    const std::vector<TensorType> tensors = tensorOperands(fusion_, expr.args);
    return pointwise(op.pointwiseRow, std::move(operands),
                     pointwiseTypes({&op, &fusion_, expr.args, tensors}));
  }

  static bool isValue(const Arg& arg) {
    return std::holds_alternative<ValId>(arg) || std::holds_alternative<Scalar>(arg);
  }

  /// Of a sum that joinOuterSums has placed among reductions of rows.
  std::vector<NodeId> outerSum(const Expr& expr, NodeId operand) {
    Node node;
    node.kind = NodeKind::OuterFold;
    node.type = fusion_.val(expr.outputs.front()).dtype();
    // A row of numbers takes all rows of a part, one after the other.
    node.compute = PrimType::Double;
    node.operands = {cast(operand, accumulatorOf(node.type))};
    return {add(std::move(node))};
  }

  std::vector<NodeId> foldsOf(const Expr& expr, Fold form, NodeId operand) {
    const PrimType result = fusion_.val(expr.outputs.front()).dtype();
    switch (form) {
      case Fold::Sum:
      case Fold::Product:
      case Fold::Max:
      case Fold::Min:
        return {fold(reduceKindOf(form), operand, accumulatorOf(result), result)};
      default:
        return deviationsOf(expr, form, operand, result);
    }
  }

  /// Mean, then the sum of squared deviations from it: two passes, as exact as the data allow.
  std::vector<NodeId> deviationsOf(const Expr& expr, Fold form, NodeId operand, PrimType result) {
    const PrimType type = graph_.node(operand).type;
    const bool isComplex = categoryOf(type) == TypeCategory::Complex;
    const PrimType wide = isComplex ? type : accumulatorOf(result);
    Node countNode;
    countNode.kind = NodeKind::Count;
    countNode.type = PrimType::Int;
    const NodeId count = add(std::move(countNode));
    const NodeId value = cast(operand, wide);
    const NodeId mean = meanOf(value, /*squares=*/false, count, wide);
    const NodeId deviation = arithmetic("sub", {value, mean}, wide);
    if (form == Fold::Welford) {
      // Without elements the mean is zero, not a quotient of zeros.
      const NodeId isEmpty = pointwise("eq", {count, constant(Scalar(0), PrimType::Int)},
                                       {PrimType::Int, PrimType::Bool});
      const NodeId zero = constant(Scalar(0.0), wide);
      const NodeId average = arithmetic("where", {isEmpty, zero, mean}, wide);
      return {cast(average, result), cast(sumOf(deviation, /*squares=*/true, wide), result), count};
    }
    const NodeId correction = constant(std::get<Scalar>(expr.args[2]), PrimType::Int);
    const NodeId freedom = arithmetic(
        "maximum",
        {arithmetic("sub", {count, correction}, PrimType::Int), constant(Scalar(0), PrimType::Int)},
        PrimType::Int);
    // Where the results differ in type, the variance of complex numbers is that of their distances.
    const bool isMagnitude = isComplex && categoryOf(result) != TypeCategory::Complex;
    const PrimType real = realTypeOf(wide);
    const NodeId variance = isMagnitude ? meanOf(squaredMagnitude(deviation, {wide, real}),
                                                 /*squares=*/false, freedom, real)
                                        : meanOf(deviation, /*squares=*/true, freedom, wide);
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
    case NodeKind::Pointwise:
      return workOf(pointwiseRows()[static_cast<size_t>(node.index)]);
    case NodeKind::Fold:
      return node.squares ? 2 : 1;
    case NodeKind::Cast:
    case NodeKind::Index:
    case NodeKind::Inside:
    case NodeKind::Masked:
      return 1;
    case NodeKind::Pick:
    case NodeKind::Scan:
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

}  // namespace meshfuse
