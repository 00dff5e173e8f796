#include "meshfuse/sharding/propagate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/reshard.h"
#include "meshfuse/sharding/reshard_plan.h"
#include "meshfuse/sharding/rules.h"

namespace meshfuse {

namespace {

constexpr std::string_view kWayOut =
    "redistribute the operand before the call, or use sizes that divide by the mesh axis";

std::vector<int64_t> sizesOf(const TensorType& type) {
  std::vector<int64_t> sizes;
  for (const IterDomain& domain : type.domain) {
    sizes.push_back(domain.extent.constant());
  }
  return sizes;
}

/// Relative cost of one step for one byte: collectives move it over the network, local changes touch memory at most. A
/// reduce-scatter moves half of what an all-reduce does, but its reader will want the other half: they cost the same, so that a
/// partial value becomes whole unless another operand is sharded.
double costOf(const Placement& from, const Placement& to) {
  if (from.isPartial()) {
    return 2.0;
  }
  if (from.isSharded()) {
    return 1.5;
  }
  return to.isPartial() ? 0.2 : 0.01;
}

/// The tensor values among arguments, in order.
std::vector<ValId> tensorIds(const Fusion& fusion, std::span<const Arg> args) {
  std::vector<ValId> ids;
  for (const Arg& arg : args) {
    forEachVal(arg, [&](ValId id) {
      if (fusion.val(id).isTensor()) {
        ids.push_back(id);
      }
    });
  }
  return ids;
}

double bytesOf(const TensorType& type) {
  double bytes = static_cast<double>(std::max<int64_t>(bitsOf(type.dtype), 8)) / 8;
  for (int64_t size : sizesOf(type)) {
    bytes *= static_cast<double>(size);
  }
  return bytes + 1;
}

class Propagation {
 public:
  Propagation(const Fusion& source, std::span<const ShardingId> inputs)
      : source_(source), inputs_(inputs) {}

  Fusion run() {
    checkInputs();
    copyVals();
    for (const Expr& expr : source_.exprs()) {
      visit(expr);
    }
    addResults();
    return std::move(result_);
  }

 private:
  const Sharding& mesh() const { return *reference_; }

  void checkInputs() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ValId id = source_.inputs()[i];
      if (source_.val(id).isTensor()) {
        checkInput(id, inputs_[i]);
      }
    }
    internalCheck(static_cast<bool>(reference_), "a distributed program has a distributed input");
  }

  void checkInput(ValId id, ShardingId sharding) {
    const std::string name = "input " + source_.nameOf(id);
    if (!sharding) {
      throwUser(
          ErrorKind::Type,
          {"execute", "distributed and plain tensors do not mix", name + " is a plain tensor",
           "distribute it over the other inputs' mesh (Replicate() keeps it whole on every rank)"});
    }
    if (!reference_) {
      reference_ = sharding;
    }
    if (sharding->mesh != reference_->mesh || sharding->device != reference_->device) {
      throwUser(ErrorKind::Value, {"execute", "distributed inputs lie on one mesh",
                                   name + " is on " + sharding->toText() +
                                       ", an earlier input on " + reference_->toText(),
                                   "redistribute one of them"});
    }
    std::optional<ReduceKind> kind;
    for (const Placement& placement : sharding->placements) {
      if (placement.isSharded() && placement.dim >= source_.val(id).tensor().rank()) {
        throwUser(ErrorKind::Value, {"execute", "a placement names a dimension of its tensor",
                                     name + " of type " + toText(source_.val(id).tensor()) +
                                         " is " + sharding->toText(),
                                     "shard an existing dimension"});
      }
      if (placement.isPartial() && kind && !combine(*kind, placement.reduce)) {
        throwUser(ErrorKind::Value,
                  {"execute", "one tensor's partial placements combine in one way",
                   name + " is " + sharding->toText(), "redistribute it first"});
      }
      kind = placement.isPartial() ? std::optional(placement.reduce) : kind;
    }
    checkLayoutIsCertain(*sharding, sizesOf(source_.val(id).tensor()));
  }

  /// Sums and averages commute; other reductions only with themselves.
  static bool combine(ReduceKind a, ReduceKind b) {
    const auto isLinear = [](ReduceKind kind) {
      return kind == ReduceKind::Sum || kind == ReduceKind::Avg;
    };
    return a == b || (isLinear(a) && isLinear(b));
  }

  /// Inputs and constants; what expressions define follows with them.
  void copyVals() {
    map_.resize(source_.vals().size());
    for (uint32_t i = 0; i < source_.vals().size(); ++i) {
      const Val& val = source_.vals()[i];
      if (val.definition != kNoExpr) {
        continue;
      }
      if (val.isTensor()) {
        TensorType type = val.tensor();
        const auto position =
            std::ranges::find(source_.inputs(), ValId{i}) - source_.inputs().begin();
        type.sharding = inputs_[static_cast<size_t>(position)];
        map_[i] = result_.addTensor(std::move(type));
      } else {
        map_[i] = result_.addScalar(val.dtype(), val.scalar().constant);
      }
    }
    for (ValId input : source_.inputs()) {
      result_.addInput(map_[indexOf(input)]);
    }
  }

  /// The outputs, and the writes of values that lie as their inputs do.
  void addResults() {
    std::map<ValId, ValId> written;  // by the source's input
    for (const InputWrite& write : source_.writes()) {
      const Sharding& target = *result_.val(map_[indexOf(write.input)]).tensor().sharding;
      written[write.input] =
          reshard("add_output",
                  source_.nameOf(write.value) + ", to be written into " +
                      source_.nameOf(write.input) + " on " + target.toText() + ",",
                  map_[indexOf(write.value)], target.placements);
    }
    forEachResult(
        source_,
        [&](ValId output) {
          const ValId behind = source_.inputBehind(output).value_or(output);
          result_.addOutput(behind == output ? map_[indexOf(output)] : written.at(behind));
        },
        [&](const InputWrite& write) {
          result_.addWrite(written.at(write.input), map_[indexOf(write.input)]);
        });
  }

  std::vector<Arg> mapArgs(const Expr& expr) const {
    std::vector<Arg> args = expr.args;
    for (Arg& arg : args) {
      forEachVal(arg, [this](ValId& id) { id = map_[indexOf(id)]; });
    }
    return args;
  }

  void visit(const Expr& expr) {
    std::vector<Arg> args = mapArgs(expr);
    const Val& result = source_.val(expr.outputs.front());
    if (!result.isTensor() && result.scalar().constant) {
      map_[indexOf(expr.outputs.front())] =
          result_.addScalar(result.dtype(), result.scalar().constant);
      return;
    }
    if (!result.isTensor()) {
      const ExprId id = result_.addScalarExpr(*expr.op, std::move(args),
                                              source_.val(expr.outputs.front()).dtype());
      map_[indexOf(expr.outputs.front())] = result_.expr(id).outputs.front();
      return;
    }
    const std::vector<TensorType> tensors = tensorOperands(result_, args);
    const OpInfo& op = infoOf(*expr.op);
    const OpCall call{&op, &result_, args, tensors};
    const DimMap map = op.dimMap(call);
    const std::vector<ShardingRule> chosen = chooseRules(call, map);
    reshardOperands(expr, args, chosen);
    std::vector<TensorType> types;
    for (size_t i = 0; i < expr.outputs.size(); ++i) {
      TensorType type = source_.val(expr.outputs[i]).tensor();
      std::vector<Placement> placements;
      for (const ShardingRule& rule : chosen) {
        placements.push_back(rule.outputs[i]);
      }
      type.sharding = shardingOf(std::move(placements));
      types.push_back(std::move(type));
    }
    const ExprId id = result_.addExpr(op, std::move(args), std::move(types));
    for (size_t i = 0; i < expr.outputs.size(); ++i) {
      map_[indexOf(expr.outputs[i])] = result_.expr(id).outputs[i];
    }
  }

  /// The cheapest rule for each mesh axis, outermost first.
  std::vector<ShardingRule> chooseRules(const OpCall& call, const DimMap& map) const {
    std::vector<ShardingRule> chosen;
    for (size_t axis = 0; axis < mesh().placements.size(); ++axis) {
      std::vector<Placement> current;
      for (const TensorType& tensor : call.tensors) {
        current.push_back(tensor.sharding->placements[axis]);
      }
      std::optional<ShardingRule> best;
      double bestCost = std::numeric_limits<double>::infinity();
      for (ShardingRule& rule : shardingRules(call, map, current)) {
        const double cost = isLegal(map, rule, chosen) ? ruleCost(call, rule, chosen)
                                                       : std::numeric_limits<double>::infinity();
        if (cost < bestCost) {
          bestCost = cost;
          best = std::move(rule);
        }
      }
      chosen.push_back(best ? std::move(*best) : shardingRules(call, map, current).front());
    }
    return chosen;
  }

  bool isLegal(const DimMap& map, const ShardingRule& rule,
               std::span<const ShardingRule> outer) const {
    return partialsCombine(rule, outer) && (rule.factor < 0 || cutsEvenly(map, rule, outer));
  }

  /// No operand or output may be partial in ways that do not commute on two axes.
  static bool partialsCombine(const ShardingRule& rule, std::span<const ShardingRule> outer) {
    const auto commute = [](const Placement& a, const Placement& b) {
      return !a.isPartial() || !b.isPartial() || combine(a.reduce, b.reduce);
    };
    return std::ranges::all_of(outer, [&](const ShardingRule& other) {
      return std::ranges::equal(rule.inputs, other.inputs, commute) &&
             std::ranges::equal(rule.outputs, other.outputs, commute);
    });
  }

  /// A factor that is only part of a dimension is cut into equal parts, so that local parts are contiguous in both.
  bool cutsEvenly(const DimMap& map, const ShardingRule& rule,
                  std::span<const ShardingRule> outer) const {
    const auto isPart = [&](const std::vector<DimFactors>& dims) {
      return std::ranges::any_of(dims, [&](const DimFactors& factors) {
        return factors.size() > 1 && std::ranges::find(factors, rule.factor) != factors.end();
      });
    };
    if (!std::ranges::any_of(map.inputs, isPart) && !std::ranges::any_of(map.outputs, isPart)) {
      return true;
    }
    int64_t shards = mesh().mesh.size(static_cast<int64_t>(outer.size()));
    for (size_t axis = 0; axis < outer.size(); ++axis) {
      shards *=
          outer[axis].factor == rule.factor ? mesh().mesh.size(static_cast<int64_t>(axis)) : 1;
    }
    return map.factors[static_cast<size_t>(rule.factor)].extent.constant() % shards == 0;
  }

  /// The placements of operand `input` under the rules chosen so far, `rule`, and its own placements further in.
  static std::vector<Placement> targetOf(const TensorType& tensor, size_t input,
                                         std::span<const ShardingRule> outer,
                                         const ShardingRule& rule) {
    std::vector<Placement> target;
    for (const ShardingRule& chosen : outer) {
      target.push_back(chosen.inputs[input]);
    }
    target.push_back(rule.inputs[input]);
    for (size_t axis = target.size(); axis < tensor.sharding->placements.size(); ++axis) {
      target.push_back(tensor.sharding->placements[axis]);
    }
    return target;
  }

  /// The cost of a plan for one value; steps that another reader already asked for are free.
  double planCost(ValId id, const ReshardPlan& plan) const {
    const TensorType& type = result_.val(id).tensor();
    std::vector<Placement> current = type.sharding->placements;
    std::optional<ValId> reached = id;
    double cost = 0;
    for (const ReshardStep& step : plan.steps) {
      Placement& placement = current[static_cast<size_t>(step.axis)];
      const double stepCost = costOf(placement, step.to);
      placement = step.to;
      const auto known =
          reached ? reshards_.find({*reached, shardingOf(current).value()}) : reshards_.end();
      reached = known != reshards_.end() ? std::optional(known->second) : std::nullopt;
      cost += reached ? 0 : stepCost;
    }
    return cost * bytesOf(type);
  }

  ShardingId shardingOf(std::vector<Placement> placements) const {
    return intern(makeSharding(mesh().mesh, mesh().device, std::move(placements)));
  }

  double ruleCost(const OpCall& call, const ShardingRule& rule,
                  std::span<const ShardingRule> outer) const {
    const std::vector<ValId> ids = tensorIds(result_, call.args);
    double cost = 0;
    for (size_t input = 0; input < call.tensors.size(); ++input) {
      const TensorType& tensor = call.tensors[input];
      const ReshardPlan plan =
          planResharding(*tensor.sharding, targetOf(tensor, input, outer, rule), sizesOf(tensor));
      if (!plan.refusal.empty()) {
        return std::numeric_limits<double>::infinity();
      }
      cost += planCost(ids[input], plan);
    }
    return cost;
  }

  void reshardOperands(const Expr& expr, std::vector<Arg>& args,
                       std::span<const ShardingRule> rules) {
    const std::vector<ValId> sources = tensorIds(source_, expr.args);
    size_t input = 0;
    for (Arg& arg : args) {
      forEachVal(arg, [&](ValId& id) {
        if (!result_.val(id).isTensor()) {
          return;
        }
        std::vector<Placement> target;
        for (const ShardingRule& rule : rules) {
          target.push_back(rule.inputs[input]);
        }
        id = reshard(expr.op->name, source_.nameOf(sources[input]), id, target);
        ++input;
      });
    }
  }

  ValId reshard(std::string_view op, const std::string& name, ValId id,
                std::span<const Placement> target) {
    const TensorType type = result_.val(id).tensor();
    const ReshardPlan plan = planResharding(*type.sharding, target, sizesOf(type));
    if (!plan.refusal.empty()) {
      throwUser(ErrorKind::Runtime,
                {op, "an operand must lie as the op needs it",
                 "operand " + name + " of type " + toText(type) + ": " + plan.refusal, kWayOut});
    }
    for (const ReshardStep& step : plan.steps) {
      id = reshardStep(id, step);
    }
    return id;
  }

  /// One step, shared by all who need it.
  ValId reshardStep(ValId id, const ReshardStep& step) {
    TensorType type = result_.val(id).tensor();
    std::vector<Placement> placements = type.sharding->placements;
    placements[static_cast<size_t>(step.axis)] = step.to;
    type.sharding = shardingOf(std::move(placements));
    type.contiguity.clear();
    type.strideOrder.clear();
    const auto [known, isNew] = reshards_.try_emplace({id, type.sharding.value()});
    if (isNew) {
      const ExprId expr = result_.addExpr(reshardOp(), {id, Scalar(step.axis)}, {std::move(type)});
      known->second = result_.expr(expr).outputs.front();
    }
    return known->second;
  }

  const Fusion& source_;
  std::span<const ShardingId> inputs_;
  ShardingId reference_;
  Fusion result_;
  std::vector<ValId> map_;
  std::map<std::pair<ValId, uint32_t>, ValId> reshards_;
};

}  // namespace

Fusion propagateShardings(const Fusion& concrete, std::span<const ShardingId> inputs) {
  return Propagation(concrete, inputs).run();
}

}  // namespace meshfuse
