#include "meshfuse/sharding/rules.h"

#include <algorithm>
#include <optional>

namespace meshfuse {

namespace {

using Dims = std::vector<DimFactors>;

/// The dimension whose outermost factor is `factor`; nullopt if it is an inner factor of some dimension, -1 if absent.
std::optional<int64_t> majorDim(const Dims& dims, int32_t factor) {
  int64_t found = -1;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const auto position = std::ranges::find(dims[dim], factor);
    if (position == dims[dim].end()) {
      continue;
    }
    if (position != dims[dim].begin()) {
      return std::nullopt;
    }
    found = static_cast<int64_t>(dim);
  }
  return found;
}

bool isWholeDim(const Dims& dims, int64_t dim) {
  return dim < 0 || dims[static_cast<size_t>(dim)].size() == 1;
}

Placement placementOn(int64_t dim, const Placement& form) {
  if (dim < 0) {
    return Placement::replicate();
  }
  return form.isStridedShard() ? Placement::stridedShard(dim, form.splitFactor)
                               : Placement::shard(dim);
}

/// Operands and outputs sharded along one factor, in the manner of `form`.
std::optional<ShardingRule> factorRule(const OpCall& call, const DimMap& map, int32_t factor,
                                       Algebra algebra, const Placement& form) {
  const Factor& entry = map.factors[static_cast<size_t>(factor)];
  ShardingRule rule;
  rule.factor = factor;
  for (const Dims& dims : map.inputs) {
    const std::optional<int64_t> dim = majorDim(dims, factor);
    if (!dim || (form.isStridedShard() && !isWholeDim(dims, *dim))) {
      return std::nullopt;
    }
    rule.inputs.push_back(placementOn(*dim, form));
  }
  const bool isReduced = entry.role == FactorRole::Reduced;
  for (const Dims& dims : map.outputs) {
    const std::optional<int64_t> dim = majorDim(dims, factor);
    if (!dim || (form.isStridedShard() && !isWholeDim(dims, *dim))) {
      return std::nullopt;
    }
    rule.outputs.push_back(isReduced ? Placement::partial(entry.reduce) : placementOn(*dim, form));
  }
  // A bias is added once: it is a term of the sum on one rank.
  if (isReduced && algebra == Algebra::Affine && call.tensors.size() > 2) {
    rule.inputs[2] = Placement::partial(entry.reduce);
  }
  return rule;
}

/// The distinct ways in which operands are sharded now; plain shards are always among them.
std::vector<Placement> shardForms(std::span<const Placement> current) {
  std::vector<Placement> forms{Placement::shard(0)};
  for (const Placement& placement : current) {
    const Placement form = Placement::stridedShard(0, placement.splitFactor);
    if (placement.isStridedShard() && std::ranges::find(forms, form) == forms.end()) {
      forms.push_back(form);
    }
  }
  return forms;
}

bool isSumLike(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Avg; }

/// Whether values of the type have partial sums at all: sums of bools saturate, averages of integers truncate.
bool canBePartial(PrimType type, ReduceKind kind) {
  switch (categoryOf(type)) {
    case TypeCategory::Boolean:
      return kind == ReduceKind::Max || kind == ReduceKind::Min;
    case TypeCategory::Integral:
      return kind != ReduceKind::Avg;
    case TypeCategory::Complex:
      return isSumLike(kind) || kind == ReduceKind::Product;
    case TypeCategory::Floating:
      return true;
    case TypeCategory::None:
      return false;
  }
  return false;
}

/// Operands at `partialInputs` are partial of `from`, the others whole; outputs are partial of `to`.
ShardingRule partialRule(const OpCall& call, const DimMap& map,
                         std::span<const size_t> partialInputs, ReduceKind from, ReduceKind to) {
  ShardingRule rule;
  rule.inputs.assign(call.tensors.size(), Placement::replicate());
  for (size_t input : partialInputs) {
    rule.inputs[input] = Placement::partial(from);
  }
  rule.outputs.assign(map.outputs.size(), Placement::partial(to));
  return rule;
}

bool hasNumberOperand(const OpCall& call) {
  size_t operands = 0;
  for (size_t i = 0; i < call.args.size(); ++i) {
    operands += call.op->params[i].kind == ParamKind::Operand ? 1 : 0;
  }
  return operands > call.tensors.size();
}

/// How partial values of one kind pass the op.
void addPartialRules(const OpCall& call, const DimMap& map, Algebra algebra, ReduceKind kind,
                     std::vector<ShardingRule>& rules) {
  std::vector<size_t> all(call.tensors.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  const auto add = [&](std::span<const size_t> inputs, ReduceKind to) {
    rules.push_back(partialRule(call, map, inputs, kind, to));
  };
  switch (algebra) {
    case Algebra::NonLinear:
      return;
    case Algebra::Linear:
      // A number is added by every rank: only whole values take it.
      return isSumLike(kind) && !hasNumberOperand(call) ? add(all, kind) : void();
    case Algebra::Negation:
      if (isSumLike(kind)) {
        add(all, kind);
      } else if (kind != ReduceKind::Product) {
        add(all, kind == ReduceKind::Max ? ReduceKind::Min : ReduceKind::Max);
      }
      return;
    case Algebra::Multilinear:
      for (size_t i = 0; isSumLike(kind) && i < all.size(); ++i) {
        add({&all[i], 1}, kind);
      }
      return;
    case Algebra::LinearInFirst: {
      const bool firstIsTensor = std::holds_alternative<ValId>(call.args[0]) &&
                                 call.fusion->val(std::get<ValId>(call.args[0])).isTensor();
      return isSumLike(kind) && firstIsTensor ? add({all.data(), 1}, kind) : void();
    }
    case Algebra::Affine:
      for (size_t i = 0; isSumLike(kind) && i < 2; ++i) {
        const std::vector<size_t> inputs =
            all.size() > 2 ? std::vector<size_t>{i, 2} : std::vector<size_t>{i};
        add(inputs, kind);
      }
      return;
    case Algebra::Selection: {
      const bool conditionIsTensor = std::holds_alternative<ValId>(call.args[0]) &&
                                     call.fusion->val(std::get<ValId>(call.args[0])).isTensor();
      const std::span<const size_t> branches = std::span(all).subspan(conditionIsTensor ? 1 : 0);
      return branches.size() == 2 ? add(branches, kind) : void();
    }
    case Algebra::Movement:
      return add(all, kind);
    case Algebra::Increasing:
      return kind == ReduceKind::Max || kind == ReduceKind::Min ? add(all, kind) : void();
    case Algebra::MaxReduction:
      return kind == ReduceKind::Max ? add(all, kind) : void();
    case Algebra::MinReduction:
      return kind == ReduceKind::Min ? add(all, kind) : void();
  }
}

}  // namespace

std::vector<ShardingRule> shardingRules(const OpCall& call, const DimMap& map,
                                        std::span<const Placement> current) {
  const Algebra algebra = call.op->algebra(call);
  std::vector<ShardingRule> rules;
  ShardingRule& whole = rules.emplace_back();
  whole.inputs.assign(call.tensors.size(), Placement::replicate());
  whole.outputs.assign(map.outputs.size(), Placement::replicate());
  for (size_t factor = 0; factor < map.factors.size(); ++factor) {
    if (map.factors[factor].role == FactorRole::Opaque) {
      continue;
    }
    for (const Placement& form : shardForms(current)) {
      if (auto rule = factorRule(call, map, static_cast<int32_t>(factor), algebra, form)) {
        rules.push_back(std::move(*rule));
      }
    }
  }
  std::vector<ReduceKind> kinds;
  for (size_t i = 0; i < current.size(); ++i) {
    if (current[i].isPartial() && canBePartial(call.tensors[i].dtype, current[i].reduce) &&
        std::ranges::find(kinds, current[i].reduce) == kinds.end()) {
      kinds.push_back(current[i].reduce);
      addPartialRules(call, map, algebra, current[i].reduce, rules);
    }
  }
  return rules;
}

}  // namespace meshfuse
