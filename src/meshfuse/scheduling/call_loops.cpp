#include "meshfuse/scheduling/call_loops.h"

#include <algorithm>

#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/scheduling/loop_conditions.h"
#include "meshfuse/scheduling/shifted_reads.h"

namespace meshfuse {

namespace {

bool isKernelType(PrimType type) {
  switch (type) {
    case PrimType::Float4_e2m1fn:
    case PrimType::Float4_e2m1fn_x2:
    case PrimType::Index:
    case PrimType::Null:
      return false;
    default:
      return true;
  }
}

/// Whether a number may be one that Int32 does not hold, where that would make a comparison wrong: only the evaluator tells.
bool mayNotHoldNumber(const Fusion& fusion, const OpInfo& op, const Expr& expr,
                      std::span<const TensorType> tensors) {
  if (!op.isPointwise() ||
      !needsWholeNumber(pointwiseRows()[static_cast<size_t>(op.pointwiseRow)].types) ||
      pointwiseTypes({&op, &fusion, expr.args, tensors}).compute != PrimType::Int32) {
    return false;
  }
  return std::ranges::any_of(expr.args, [&](const Arg& arg) {
    if (const Scalar* number = std::get_if<Scalar>(&arg)) {
      return number->isInt() && static_cast<int32_t>(number->toInt()) != number->toInt();
    }
    const ValId* val = std::get_if<ValId>(&arg);
    return val != nullptr && !fusion.val(*val).isTensor();
  });
}

bool hasSimpleDims(const std::vector<std::vector<DimFactors>>& tensors) {
  return std::ranges::all_of(tensors, [](const std::vector<DimFactors>& dims) {
    return std::ranges::all_of(dims, [](const DimFactors& dim) { return dim.size() <= 1; });
  });
}

bool isOne(const Factor& factor) { return factor.extent == IntExpr(1); }

/// Places the dimensions of one call; factors have a loop once some dimension had one.
class Placer {
 public:
  Placer(const Fusion& fusion, const CallShape& call, LoopTable& table, LoopDraft& draft)
      : fusion_(fusion),
        call_(call),
        table_(table),
        draft_(draft),
        loopOf_(call.map.factors.size(), kNoLoop),
        isKept_(call.map.factors.size(), false) {
    for (const std::vector<DimFactors>& dims : call.map.outputs) {
      for (const DimFactors& dim : dims) {
        for (int32_t factor : dim) {
          isKept_[static_cast<size_t>(factor)] = true;
        }
      }
    }
  }

  std::optional<PlacedCall> place(const OperandLoops& known) {
    PlacedCall placed;
    placed.operands.resize(call_.operands.size());
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      if (readsShifted(call_.form.body)) {
        placed.operands[i] = placeFromMemory(i, std::nullopt);
        continue;
      }
      if (call_.picked && call_.picked->operand == i) {
        continue;
      }
      std::optional<DimLoops> loops = placeOperand(i, known(i));
      if (!loops) {
        return std::nullopt;
      }
      placed.operands[i] = std::move(*loops);
    }
    if (call_.picked) {
      placed.operands[call_.picked->operand] =
          placeFromMemory(call_.picked->operand, call_.picked->dim);
    }
    const Expr& expr = fusion_.expr(call_.expr);
    for (size_t i = 0; i < expr.outputs.size(); ++i) {
      placed.outputs.push_back(placeOutput(expr.outputs[i], call_.map.outputs[i]));
    }
    for (const auto* tensors : {&placed.operands, &placed.outputs}) {
      for (const DimLoops& loops : *tensors) {
        if (!draft_.addTensor(loops)) {
          return std::nullopt;
        }
      }
    }
    // One loop may have become two names on the way: sets are made when all is placed.
    for (const auto* tensors : {&placed.operands, &placed.outputs}) {
      for (const DimLoops& loops : *tensors) {
        placed.all |= draft_.setOf(loops);
      }
    }
    for (size_t factor = 0; factor < loopOf_.size(); ++factor) {
      if (loopOf_[factor] != kNoLoop && !isKept_[factor]) {
        const LoopId loop = loopOf_[factor];
        placed.reduced |= draft_.setOf({&loop, 1});
      }
    }
    return placed;
  }

 private:
  std::optional<DimLoops> placeOperand(size_t operand, const DimLoops* known) {
    const std::vector<DimFactors>& dims = call_.map.inputs[operand];
    DimLoops loops(dims.size(), kNoLoop);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const int32_t factor = dims[dim].empty() ? -1 : dims[dim].front();
      if (factor < 0 || isOne(call_.map.factors[static_cast<size_t>(factor)])) {
        continue;
      }
      if (!isKept_[static_cast<size_t>(factor)] && call_.form.kind != LoopForm::Kind::Reduction) {
        // The first of equal elements is taken; what computes it must not run along a loop.
        if (known != nullptr && (*known)[dim] != kNoLoop) {
          return std::nullopt;
        }
        continue;
      }
      loops[dim] = known != nullptr && (*known)[dim] != kNoLoop
                       ? (*known)[dim]
                       : table_.add(call_.operands[operand], static_cast<int64_t>(dim));
      LoopId& loop = loopOf_[static_cast<size_t>(factor)];
      if (loop == kNoLoop) {
        loop = loops[dim];
      } else if (!draft_.unite(loop, loops[dim])) {
        return std::nullopt;
      }
    }
    return loops;
  }

  /// In dimensions that are not of one factor with the output's, the element is the one at the output's own position.
  DimLoops placeFromMemory(size_t operand, std::optional<size_t> pickedDim) {
    const std::vector<DimFactors>& dims = call_.map.inputs[operand];
    DimLoops loops(dims.size(), kNoLoop);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dim == pickedDim || dims[dim].empty()) {
        continue;
      }
      int32_t factor = dims[dim].front();
      if (!isKept_[static_cast<size_t>(factor)]) {
        const DimFactors& output = call_.map.outputs.front()[dim];
        factor = output.empty() ? -1 : output.front();
      }
      if (factor < 0 || isOne(call_.map.factors[static_cast<size_t>(factor)])) {
        continue;
      }
      LoopId& loop = loopOf_[static_cast<size_t>(factor)];
      if (loop == kNoLoop) {
        const bool isOwn = factor == dims[dim].front();
        const ValId output = fusion_.expr(call_.expr).outputs.front();
        loop = table_.add(isOwn ? call_.operands[operand] : output, static_cast<int64_t>(dim));
      }
      loops[dim] = loop;
    }
    return loops;
  }

  DimLoops placeOutput(ValId output, const std::vector<DimFactors>& dims) {
    DimLoops loops(dims.size(), kNoLoop);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const int32_t factor = dims[dim].empty() ? -1 : dims[dim].front();
      if (factor < 0 || isOne(call_.map.factors[static_cast<size_t>(factor)])) {
        continue;
      }
      LoopId& loop = loopOf_[static_cast<size_t>(factor)];
      if (loop == kNoLoop) {
        loop = table_.add(output, static_cast<int64_t>(dim));
      }
      loops[dim] = loop;
    }
    return loops;
  }

  const Fusion& fusion_;
  const CallShape& call_;
  LoopTable& table_;
  LoopDraft& draft_;
  std::vector<LoopId> loopOf_;
  std::vector<bool> isKept_;
};

}  // namespace

std::optional<PickedOperand> pickedOperandOf(const Expr& expr, Body body) {
  switch (body) {
    case Body::Take:
    case Body::Select:
      return PickedOperand{0, static_cast<size_t>(std::get<Scalar>(expr.args[2]).toInt())};
    case Body::Embedding:
      return PickedOperand{1, 0};
    default:
      return std::nullopt;
  }
}

std::optional<CallShape> kernelShapeOf(const Fusion& fusion, ExprId id) {
  const Expr& expr = fusion.expr(id);
  if (isReshard(expr) || !fusion.val(expr.outputs.front()).isTensor()) {
    return std::nullopt;
  }
  CallShape call{id, loopFormOf(*expr.op), {}, {}};
  call.picked = pickedOperandOf(expr, call.form.body);
  if (call.form.kind == LoopForm::Kind::Call || !loopsCompute(fusion, expr, call.form)) {
    return std::nullopt;
  }
  const auto hasKernelType = [&](ValId val) { return isKernelType(fusion.val(val).dtype()); };
  for (ValId val : inputsOf(expr)) {
    if (!hasKernelType(val)) {
      return std::nullopt;
    }
    if (fusion.val(val).isTensor()) {
      call.operands.push_back(val);
    }
  }
  if (call.operands.empty() != call.form.isFactory() ||
      !std::ranges::all_of(expr.outputs, hasKernelType)) {
    return std::nullopt;
  }
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  if (mayNotHoldNumber(fusion, op, expr, tensors)) {
    return std::nullopt;
  }
  call.map = op.dimMap({&op, &fusion, expr.args, tensors});
  if (call.picked) {
    call.fromMemory = {call.operands[call.picked->operand]};
  }
  if (!hasSimpleDims(call.map.inputs) || !hasSimpleDims(call.map.outputs)) {
    return std::nullopt;
  }
  return call;
}

std::optional<PlacedCall> placeCall(const Fusion& fusion, const CallShape& call,
                                    const OperandLoops& known, LoopTable& table, LoopDraft& draft) {
  return Placer(fusion, call, table, draft).place(known);
}

bool isSameSplit(const Fusion& fusion, const GroupLoop& a, const GroupLoop& b) {
  const TensorType& first = fusion.val(a.val).tensor();
  const TensorType& second = fusion.val(b.val).tensor();
  if (first.domain[static_cast<size_t>(a.dim)].extent !=
      second.domain[static_cast<size_t>(b.dim)].extent) {
    return false;
  }
  if (!first.sharding || !second.sharding) {
    return !first.sharding && !second.sharding;
  }
  const std::vector<Placement>& left = first.sharding->placements;
  const std::vector<Placement>& right = second.sharding->placements;
  if (!(first.sharding->mesh == second.sharding->mesh)) {
    return false;
  }
  for (size_t axis = 0; axis < left.size(); ++axis) {
    const bool cutsFirst = left[axis].isSharded() && left[axis].dim == a.dim;
    const bool cutsSecond = right[axis].isSharded() && right[axis].dim == b.dim;
    if (cutsFirst != cutsSecond ||
        (cutsFirst && (left[axis].kind != right[axis].kind ||
                       left[axis].splitFactor != right[axis].splitFactor))) {
      return false;
    }
  }
  return true;
}

}  // namespace meshfuse
