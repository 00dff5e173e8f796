#include "meshfuse/evaluator/program.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/program_step.h"
#include "meshfuse/evaluator/random_numbers.h"
#include "meshfuse/evaluator/reshard_eval.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/ops/reshard.h"

namespace meshfuse {

namespace {

/// The outputs, then the values that are written into inputs.
std::vector<ValId> resultsOf(const Fusion& fusion) {
  std::vector<ValId> results(fusion.outputs().begin(), fusion.outputs().end());
  for (const InputWrite& write : fusion.writes()) {
    results.push_back(write.value);
  }
  return results;
}

/// The calls that results need, each with the values that no later step reads. Results are kept.
std::vector<ProgramStep> planSteps(const Fusion& fusion) {
  std::vector<ProgramStep> steps;
  std::vector<bool> seen(fusion.vals().size(), false);
  for (ValId result : resultsOf(fusion)) {
    seen[indexOf(result)] = true;
  }
  for (size_t i = fusion.exprs().size(); i-- > 0;) {
    const Expr& expr = fusion.exprs()[i];
    if (std::ranges::none_of(expr.outputs, [&](ValId val) { return seen[indexOf(val)]; })) {
      continue;
    }
    ProgramStep& step = steps.emplace_back();
    step.expr = ExprId{static_cast<uint32_t>(i)};
    const auto noteLastUse = [&](ValId val) {
      if (!seen[indexOf(val)]) {
        seen[indexOf(val)] = true;
        step.lastUses.push_back(val);
      }
    };
    std::ranges::for_each(inputsOf(expr), noteLastUse);
    std::ranges::for_each(expr.outputs, noteLastUse);
  }
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace

Program::Program(Fusion fusion, std::vector<int64_t> ranks)
    : fusion_(std::move(fusion)),
      ranks_(std::move(ranks)),
      results_(resultsOf(fusion_)),
      steps_(planSteps(fusion_)) {
  for (int64_t rank : ranks_) {
    std::vector<std::vector<int64_t>>& sizes = localSizes_.emplace_back();
    for (const Val& val : fusion_.vals()) {
      sizes.push_back(val.isTensor() ? localSizesOf(val.tensor(), rank) : std::vector<int64_t>{});
    }
  }
}

std::vector<std::vector<PolymorphicValue>> Program::run(
    std::span<const std::vector<PolymorphicValue>> inputs, const Collectives* collectives,
    std::optional<c10::Device> device) const {
  internalCheck(inputs.size() == ranks_.size(), "there is one argument list a hosted rank");
  std::vector<RankState> states(ranks_.size());
  for (size_t r = 0; r < states.size(); ++r) {
    states[r].rank = ranks_[r];
    states[r].values.resize(fusion_.vals().size());
    states[r].device = device.value_or(deviceOfFactories(inputs[r]));
    for (size_t i = 0; i < fusion_.inputs().size(); ++i) {
      states[r].values[indexOf(fusion_.inputs()[i])] = inputs[r][i];
    }
  }
  for (const ProgramStep& step : steps_) {
    const Expr& expr = fusion_.expr(step.expr);
    if (isReshard(expr)) {
      runReshard(fusion_, expr, states, collectives);
    } else {
      const std::optional<uint64_t> seed = seedOf(fusion_, expr, states.size(), collectives);
      for (size_t r = 0; r < states.size(); ++r) {
        runCall(fusion_, expr, localSizes_[r], seed, states[r]);
      }
    }
    for (RankState& state : states) {
      for (ValId val : step.lastUses) {
        state.values[indexOf(val)] = PolymorphicValue();
      }
    }
  }
  std::vector<std::vector<PolymorphicValue>> results(states.size());
  for (size_t r = 0; r < states.size(); ++r) {
    for (ValId result : results_) {
      results[r].push_back(states[r].values[indexOf(result)]);
    }
  }
  return results;
}

bool communicates(const Fusion& sharded) {
  const auto draws = [](const Expr& expr) { return !isReshard(expr) && needsSeed(expr); };
  return std::ranges::any_of(sharded.exprs(), draws) || !collectivesOf(sharded).empty();
}

std::vector<CollectiveEstimate> collectivesOf(const Fusion& sharded) {
  std::vector<CollectiveEstimate> estimates;
  for (size_t i = 0; i < sharded.exprs().size(); ++i) {
    const Expr& expr = sharded.exprs()[i];
    if (!isReshard(expr)) {
      continue;
    }
    const TensorType& from = sharded.val(std::get<ValId>(expr.args[0])).tensor();
    const TensorType& to = sharded.val(expr.outputs.front()).tensor();
    const auto axis = static_cast<size_t>(std::get<Scalar>(expr.args[1]).toInt());
    const std::string_view kind =
        collectiveOf(from.sharding->placements[axis], to.sharding->placements[axis]);
    if (kind.empty()) {
      continue;
    }
    int64_t elements = 1;
    for (int64_t size : localSizesOf(kind == "all_gather" ? to : from, 0)) {
      elements *= size;
    }
    estimates.push_back(
        {ExprId{static_cast<uint32_t>(i)}, std::string(kind), elements * bytesOf(from.dtype)});
  }
  return estimates;
}

}  // namespace meshfuse
