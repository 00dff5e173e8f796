// What checking results against a reference needs of a fusion: how long its sums are.
#include "meshfuse/frontend/validation.h"

#include <algorithm>

#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

/// The terms whose roundings add up in one element of the call's results; 0 where nothing is summed.
int64_t termsOf(const Fusion& fusion, const Expr& expr) {
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  const OpCall call{&op, &fusion, expr.args, tensors};
  const bool moves = op.algebra(call) == Algebra::Movement;
  int64_t terms = 1;
  for (const Factor& factor : op.dimMap(call).factors) {
    const bool selects = factor.reduce == ReduceKind::Max || factor.reduce == ReduceKind::Min;
    // An op that needs the whole of a dimension may sum over it, unless it only moves elements.
    if ((factor.role == FactorRole::Reduced && !selects) ||
        (factor.role == FactorRole::Opaque && !moves)) {
      terms *= std::max<int64_t>(factor.extent.asConstant().value_or(1), 1);
    }
  }
  return terms == 1 ? 0 : terms;
}

}  // namespace

std::vector<int64_t> reductionSizes(const Fusion& fusion, std::span<const InputShape> inputs) {
  const Fusion concrete = concretize(fusion, inputs);
  std::vector<int64_t> sizes(concrete.vals().size(), 0);
  for (const Expr& expr : concrete.exprs()) {
    if (!concrete.val(expr.outputs.front()).isTensor()) {
      continue;
    }
    int64_t longest = 0;
    for (ValId input : inputsOf(expr)) {
      longest = std::max(longest, sizes[indexOf(input)]);
    }
    const int64_t terms = longest + termsOf(concrete, expr);
    for (ValId output : expr.outputs) {
      sizes[indexOf(output)] = terms;
    }
  }
  std::vector<int64_t> result;
  const auto add = [&](ValId val) { result.push_back(std::max<int64_t>(sizes[indexOf(val)], 1)); };
  std::ranges::for_each(concrete.outputs(), add);
  std::ranges::for_each(concrete.writes(), add, &InputWrite::value);
  return result;
}

}  // namespace meshfuse
