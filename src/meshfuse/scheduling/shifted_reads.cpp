#include "meshfuse/scheduling/shifted_reads.h"

#include <algorithm>

#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"
#include "meshfuse/ops/pointwise.h"
#include "meshfuse/scheduling/call_loops.h"

namespace meshfuse {

namespace {

int64_t extentOf(const Fusion& fusion, ValId val, size_t dim) {
  return fusion.val(val).tensor().domain[dim].extent.constant();
}

/// Pointwise calls that are computed beyond their operands' ends as well, where the result does not count: nothing may go wrong
/// there, and it should cost next to nothing.
bool isCheapAnywhere(const Fusion& fusion, const Expr& expr, const OpInfo& op) {
  if (!op.isPointwise()) {
    return expr.op->name == "cast";
  }
  const PointwiseRow& row = pointwiseRows()[static_cast<size_t>(op.pointwiseRow)];
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  const OpTypes types = pointwiseTypes({&op, &fusion, expr.args, tensors});
  return workOf(row) == 1 && !dividesWholeNumbers(row, types.compute) &&
         !loopFormOf(*expr.op).endsKernel;
}

}  // namespace

std::vector<ValId> tensorsOf(const Fusion& fusion, const Expr& expr) {
  std::vector<ValId> tensors = inputsOf(expr);
  std::erase_if(tensors, [&](ValId val) { return !fusion.val(val).isTensor(); });
  return tensors;
}

std::vector<int64_t> shiftsOf(const Fusion& fusion, ShiftStep step) {
  const Expr& expr = fusion.expr(step.call);
  const std::vector<ValId> tensors = tensorsOf(fusion, expr);
  const size_t rank = fusion.val(tensors.front()).tensor().domain.size();
  std::vector<int64_t> shifts(rank, 0);
  const Body body = loopFormOf(*expr.op).body;
  if (body == Body::Cat) {
    const auto dim = static_cast<size_t>(std::get<Scalar>(expr.args[1]).toInt());
    for (size_t i = 0; i < step.operand; ++i) {
      shifts[dim] -= extentOf(fusion, tensors[i], dim);
    }
    return shifts;
  }
  const Ints& numbers = std::get<Ints>(expr.args[1]);
  if (body == Body::Pad) {
    for (size_t pair = 0; pair < numbers.size() / 2; ++pair) {
      shifts[rank - 1 - pair] = -numbers[2 * pair];
    }
    return shifts;
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    const int64_t extent = extentOf(fusion, tensors.front(), dim);
    const int64_t start = numbers[dim] < 0 ? numbers[dim] + extent : numbers[dim];
    shifts[dim] = std::clamp<int64_t>(start, 0, extent);
  }
  return shifts;
}

Absorption::Absorption(const Fusion& fusion, const std::vector<bool>& isNeeded,
                       const std::vector<bool>& isResult)
    : fusion_(fusion),
      isAbsorbed_(fusion.exprs().size(), false),
      useCount_(isResult.begin(), isResult.end()) {
  const auto isUsed = [&](const Expr& expr) {
    return std::ranges::any_of(expr.outputs, [&](ValId val) { return isNeeded[indexOf(val)]; });
  };
  for (const Expr& expr : fusion.exprs()) {
    for (ValId val : isUsed(expr) ? inputsOf(expr) : std::vector<ValId>{}) {
      ++useCount_[indexOf(val)];
    }
  }
  for (uint32_t i = 0; i < fusion.exprs().size(); ++i) {
    const Expr& expr = fusion.exprs()[i];
    if (isUsed(expr) && readsShifted(loopFormOf(*expr.op).body) &&
        kernelShapeOf(fusion, ExprId{i})) {
      size_t left = kMostAbsorbed;
      absorbInto(ExprId{i}, isSlice(ExprId{i}), left);
    }
  }
}

bool Absorption::isSlice(ExprId expr) const {
  return loopFormOf(*fusion_.expr(expr).op).body == Body::Slice;
}

void Absorption::absorbInto(ExprId call, bool slicesOnly, size_t& left) {
  for (ValId val : tensorsOf(fusion_, fusion_.expr(call))) {
    const ExprId definition = fusion_.val(val).definition;
    if (left > 0 && definition != kNoExpr && useCount_[indexOf(val)] == 1 &&
        (slicesOnly ? isSlice(definition) : canAbsorb(definition))) {
      --left;
      isAbsorbed_[indexOf(definition)] = true;
      absorbInto(definition, slicesOnly, left);
    }
  }
}

bool Absorption::canAbsorb(ExprId id) const {
  const Expr& expr = fusion_.expr(id);
  if (isSlice(id)) {
    return true;
  }
  const std::optional<CallShape> shape = kernelShapeOf(fusion_, id);
  if (!shape || !isCheapAnywhere(fusion_, expr, infoOf(*expr.op))) {
    return false;
  }
  const auto isMade = [&](ValId val) { return fusion_.val(val).definition != kNoExpr; };
  return std::ranges::count_if(shape->operands, isMade) <= 1 &&
         std::ranges::all_of(shape->map.inputs, [&](const std::vector<DimFactors>& dims) {
           return dims == shape->map.outputs.front();
         });
}

void Absorption::visit(ExprId call, std::vector<ExprId>& absorbed,
                       std::vector<ValId>& sources) const {
  for (ValId val : inputsOf(fusion_.expr(call))) {
    const ExprId definition = fusion_.val(val).definition;
    if (definition != kNoExpr && isAbsorbed(definition)) {
      absorbed.push_back(definition);
      visit(definition, absorbed, sources);
    } else {
      sources.push_back(val);
    }
  }
}

std::vector<ExprId> Absorption::absorbedBy(ExprId call) const {
  std::vector<ExprId> absorbed;
  std::vector<ValId> sources;
  visit(call, absorbed, sources);
  std::ranges::sort(absorbed, {}, [](ExprId id) { return indexOf(id); });
  return absorbed;
}

std::vector<ValId> Absorption::sourcesOf(ExprId call) const {
  std::vector<ExprId> absorbed;
  std::vector<ValId> sources;
  visit(call, absorbed, sources);
  return sources;
}

void Absorption::release(ExprId call) {
  for (ExprId absorbed : absorbedBy(call)) {
    isAbsorbed_[indexOf(absorbed)] = false;
  }
}

}  // namespace meshfuse
