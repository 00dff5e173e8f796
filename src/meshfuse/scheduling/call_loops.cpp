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

/// Whether loops can walk the factors of dimensions that are products of several: they are whole on every rank, and what stands
/// for a dimension that cannot be taken apart is none of them.
bool canDivide(const Fusion& fusion, const Expr& expr, const CallShape& call) {
  std::vector<bool> isPart(call.map.factors.size(), false);
  const auto forEachDim = [&](const auto& visit) {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      for (size_t dim = 0; dim < call.map.inputs[i].size(); ++dim) {
        visit(call.operands[i], static_cast<int64_t>(dim), call.map.inputs[i][dim]);
      }
    }
    for (size_t i = 0; i < expr.outputs.size(); ++i) {
      for (size_t dim = 0; dim < call.map.outputs[i].size(); ++dim) {
        visit(expr.outputs[i], static_cast<int64_t>(dim), call.map.outputs[i][dim]);
      }
    }
  };
  forEachDim([&](ValId /*val*/, int64_t /*dim*/, const DimFactors& factors) {
    for (int32_t factor : factors) {
      isPart[static_cast<size_t>(factor)] =
          isPart[static_cast<size_t>(factor)] || factors.size() > 1;
    }
  });
  bool areWhole = true;
  forEachDim([&](ValId val, int64_t dim, const DimFactors& factors) {
    const ShardingId sharding = fusion.val(val).tensor().sharding;
    for (int32_t factor : factors) {
      const bool isSharded =
          sharding && std::ranges::any_of(sharding->placements, [&](const Placement& placement) {
            return placement.isSharded() && placement.dim == dim;
          });
      areWhole = areWhole && !(isPart[static_cast<size_t>(factor)] && isSharded) &&
                 !(call.form.divides &&
                   call.map.factors[static_cast<size_t>(factor)].role == FactorRole::Opaque);
    }
  });
  return areWhole && (call.form.divides || std::ranges::count(isPart, true) == 0);
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
      std::optional<PlacedDims> loops = placeOperand(i, known(i));
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
      for (const PlacedDims& loops : *tensors) {
        if (!draft_.addTensor(loops)) {
          return std::nullopt;
        }
      }
    }
    // One loop may have become two names on the way: sets are made when all is placed.
    for (const auto* tensors : {&placed.operands, &placed.outputs}) {
      for (const PlacedDims& loops : *tensors) {
        placed.all |= draft_.setOf(loops);
      }
    }
    for (size_t factor = 0; factor < loopOf_.size(); ++factor) {
      const bool isScanned = call_.form.kind == LoopForm::Kind::Scan &&
                             call_.map.factors[factor].role == FactorRole::Opaque;
      if (loopOf_[factor] != kNoLoop && (!isKept_[factor] || isScanned)) {
        const LoopId loop = loopOf_[factor];
        placed.reduced |= draft_.setOf({&loop, 1});
      }
    }
    return placed;
  }

 private:
  std::optional<PlacedDims> placeOperand(size_t operand, const PlacedDims* known) {
    const std::vector<DimFactors>& dims = call_.map.inputs[operand];
    PlacedDims loops(dims.size(), kNoLoop);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const int32_t factor = dims[dim].empty() ? -1 : dims[dim].front();
      if (factor < 0 || isOne(call_.map.factors[static_cast<size_t>(factor)])) {
        continue;
      }
      const bool isKnown = known != nullptr && (*known)[dim] != kNoLoop;
      if (!isKept_[static_cast<size_t>(factor)] && call_.form.kind != LoopForm::Kind::Reduction) {
        // The first of equal elements is taken; what computes it must not run along a loop.
        if (isKnown) {
          return std::nullopt;
        }
        continue;
      }
      if (dims[dim].size() > 1) {
        const LoopId name = nameOf(dims[dim]);
        loops[dim] = isKnown ? (*known)[dim] : name;
        if (isKnown && !draft_.unite(loops[dim], name)) {
          return std::nullopt;
        }
        continue;
      }
      loops[dim] =
          isKnown ? (*known)[dim] : newLoop(call_.operands[operand], static_cast<int64_t>(dim));
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
  PlacedDims placeFromMemory(size_t operand, std::optional<size_t> pickedDim) {
    const std::vector<DimFactors>& dims = call_.map.inputs[operand];
    PlacedDims loops(dims.size(), kNoLoop);
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
        loop = newLoop(isOwn ? call_.operands[operand] : output, static_cast<int64_t>(dim));
      }
      loops[dim] = loop;
    }
    return loops;
  }

  PlacedDims placeOutput(ValId output, const std::vector<DimFactors>& dims) {
    PlacedDims loops(dims.size(), kNoLoop);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const int32_t factor = dims[dim].empty() ? -1 : dims[dim].front();
      if (factor < 0 || isOne(call_.map.factors[static_cast<size_t>(factor)])) {
        continue;
      }
      if (dims[dim].size() > 1) {
        loops[dim] = nameOf(dims[dim]);
        continue;
      }
      LoopId& loop = loopOf_[static_cast<size_t>(factor)];
      if (loop == kNoLoop) {
        loop = newLoop(output, static_cast<int64_t>(dim));
      }
      loops[dim] = loop;
    }
    return loops;
  }

  LoopId newLoop(ValId val, int64_t dim) {
    const IntExpr& extent = fusion_.val(val).tensor().domain[static_cast<size_t>(dim)].extent;
    return table_.add({.val = val, .dim = dim}, extent.constant());
  }

  /// A name for the loops of a dimension's factors.
  LoopId nameOf(const DimFactors& factors) {
    std::vector<LoopId> loops;
    for (int32_t factor : factors) {
      LoopId& loop = loopOf_[static_cast<size_t>(factor)];
      if (loop == kNoLoop) {
        loop = loopOfFactor(factor);
      }
      loops.push_back(loop);
    }
    return table_.addName(loops);
  }

  /// Of a part of a dimension: where it is a whole dimension of a result, that one's.
  LoopId loopOfFactor(int32_t factor) {
    const ValId output = fusion_.expr(call_.expr).outputs.front();
    const std::vector<DimFactors>& dims = call_.map.outputs.front();
    const auto whole = std::ranges::find(dims, DimFactors{factor});
    if (whole != dims.end()) {
      return newLoop(output, whole - dims.begin());
    }
    return table_.add({.val = output, .factor = factor},
                      call_.map.factors[static_cast<size_t>(factor)].extent.constant());
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
  if (!canDivide(fusion, expr, call)) {
    return std::nullopt;
  }
  return call;
}

std::optional<PlacedCall> placeCall(const Fusion& fusion, const CallShape& call,
                                    const OperandLoops& known, LoopTable& table, LoopDraft& draft) {
  return Placer(fusion, call, table, draft).place(known);
}

bool isSameSplit(const Fusion& fusion, const LoopTable& table, LoopId a, LoopId b) {
  if (table.extentOf(a) != table.extentOf(b)) {
    return false;
  }
  const GroupLoop& one = table.info(a);
  const GroupLoop& other = table.info(b);
  const TensorType& first = fusion.val(one.val).tensor();
  const TensorType& second = fusion.val(other.val).tensor();
  if (!first.sharding || !second.sharding) {
    return !first.sharding && !second.sharding;
  }
  const std::vector<Placement>& left = first.sharding->placements;
  const std::vector<Placement>& right = second.sharding->placements;
  if (!(first.sharding->mesh == second.sharding->mesh)) {
    return false;
  }
  for (size_t axis = 0; axis < left.size(); ++axis) {
    const bool cutsFirst = left[axis].isSharded() && left[axis].dim == one.dim;
    const bool cutsSecond = right[axis].isSharded() && right[axis].dim == other.dim;
    if (cutsFirst != cutsSecond ||
        (cutsFirst && (left[axis].kind != right[axis].kind ||
                       left[axis].splitFactor != right[axis].splitFactor))) {
      return false;
    }
  }
  return true;
}

}  // namespace meshfuse
