#include "meshfuse/evaluator/program_step.h"

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/random_numbers.h"
#include "meshfuse/evaluator/reshard_eval.h"
#include "meshfuse/mesh/shard_arithmetic.h"

namespace meshfuse {

namespace {

std::vector<int64_t> globalSizesOf(const TensorType& type) {
  std::vector<int64_t> sizes;
  for (const IterDomain& domain : type.domain) {
    sizes.push_back(domain.extent.constant());
  }
  return sizes;
}

PolymorphicValue valueOf(const Fusion& fusion, const RankState& state, const Arg& arg) {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return {*number};
  }
  if (const Items* items = std::get_if<Items>(&arg)) {
    std::vector<PolymorphicValue> list;
    for (const Item& item : *items) {
      list.push_back(state.values[indexOf(std::get<ValId>(item))]);
    }
    return PolymorphicValue(std::move(list));
  }
  const ValId* id = std::get_if<ValId>(&arg);
  if (id == nullptr) {
    return {};
  }
  const Val& val = fusion.val(*id);
  if (!val.isTensor() && val.scalar().constant) {
    return {*val.scalar().constant};
  }
  return state.values[indexOf(*id)];
}

/// A seed for one call, the same on all ranks of the mesh of its result: the greatest of what their generators give.
uint64_t sharedSeed(const Fusion& fusion, const Expr& expr, size_t hosted,
                    const Collectives* collectives) {
  const ShardingId sharding = fusion.val(expr.outputs.front()).tensor().sharding;
  const auto drawn = static_cast<int64_t>(drawSeed());
  if (!sharding || collectives == nullptr) {
    return static_cast<uint64_t>(drawn);
  }
  LocalTensors seeds(hosted, at::full({1}, drawn, at::kLong));
  for (int64_t axis = 0; axis < sharding->mesh.ndim(); ++axis) {
    seeds = collectives->allReduce({&sharding->mesh, axis, -1, ReduceKind::Max}, seeds);
  }
  return static_cast<uint64_t>(seeds.front().item<int64_t>());
}

}  // namespace

/// The sizes that the rank with linear mesh index `rank` holds of a value.
std::vector<int64_t> localSizesOf(const TensorType& type, int64_t rank) {
  std::vector<int64_t> sizes = globalSizesOf(type);
  if (!type.sharding) {
    return sizes;
  }
  const DeviceMesh& mesh = type.sharding->mesh;
  return localSizes(*type.sharding, sizes, *mesh.coordinateOf(mesh.rankAtLinear(rank)));
}

std::optional<uint64_t> seedOf(const Fusion& fusion, const Expr& expr, size_t hosted,
                               const Collectives* collectives) {
  return needsSeed(expr) ? std::optional(sharedSeed(fusion, expr, hosted, collectives))
                         : std::nullopt;
}

void runCall(const Fusion& fusion, const Expr& expr, const std::vector<std::vector<int64_t>>& sizes,
             std::optional<uint64_t> seed, RankState& state) {
  std::vector<PolymorphicValue> operands;
  for (const Arg& arg : expr.args) {
    operands.push_back(valueOf(fusion, state, arg));
  }
  std::vector<std::vector<int64_t>> outputSizes;
  for (ValId output : expr.outputs) {
    outputSizes.push_back(sizes[indexOf(output)]);
  }
  std::vector<PolymorphicValue> results =
      evaluateCall({&fusion, &expr, operands, outputSizes, state.device, seed});
  for (size_t i = 0; i < results.size(); ++i) {
    state.values[indexOf(expr.outputs[i])] = std::move(results[i]);
  }
}

void runReshard(const Fusion& fusion, const Expr& expr, std::span<RankState> states,
                const Collectives* collectives) {
  const ValId from = std::get<ValId>(expr.args[0]);
  const ValId to = expr.outputs.front();
  LocalTensors locals;
  std::vector<int64_t> ranks;
  for (const RankState& state : states) {
    locals.push_back(state.values[indexOf(from)].asTensor());
    ranks.push_back(state.rank);
  }
  const Resharding resharding{*fusion.val(from).tensor().sharding,
                              *fusion.val(to).tensor().sharding,
                              std::get<Scalar>(expr.args[1]).toInt()};
  locals = evaluateResharding(resharding, ranks, locals, collectives);
  for (size_t i = 0; i < states.size(); ++i) {
    states[i].values[indexOf(to)] = std::move(locals[i]);
  }
}

}  // namespace meshfuse
