#include "meshfuse/frontend/op_reference.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/sharding/rules.h"

namespace meshfuse {
namespace {

constexpr int64_t kOutOfRange = 99;

/// None for ops that only ask for a size.
std::vector<OpSample> samplesOf(const OpInfo& op) {
  return op.samples == nullptr ? std::vector<OpSample>{} : op.samples(op);
}

/// A sample as a definition with constant sizes; sizes of 1 are declared broadcasts, as users write them.
struct SampleCall {
  Fusion fusion;
  std::vector<ValId> tensors;
  std::vector<ValId> outputs;
};

SampleCall callSample(const OpInfo& op, const OpSample& sample) {
  SampleCall call;
  for (const OpSample::Tensor& tensor : sample.tensors) {
    Contiguity contiguity;
    for (const int64_t size : tensor.sizes) {
      contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
    }
    call.tensors.push_back(call.fusion.addInputTensor(tensor.dtype, tensor.sizes, contiguity));
  }
  call.outputs = addCall(call.fusion, op, sampleArgs(op, sample, call.tensors));
  return call;
}

/// The text of the UserError that the sample gives; nullopt if it gives none.
std::optional<std::string> errorOf(const OpInfo& op, const OpSample& sample) {
  try {
    callSample(op, sample);
  } catch (const UserError& error) {
    return error.what();
  }
  return std::nullopt;
}

std::string operandName(const OpInfo& op, const OpSample& sample, size_t tensor) {
  return std::string(op.params[sample.tensorArgs[tensor]].name);
}

/// An operand whose type does not follow the others'.
struct OwnType {
  size_t operand;
  PrimType type;
};

/// The types of the results with the operands of type `from` given the type `to`, but for `own`; nullopt if refused.
std::optional<std::string> resultTypes(const OpInfo& op, OpSample sample, PrimType from,
                                       PrimType to, std::optional<OwnType> own) {
  for (size_t i = 0; i < sample.tensors.size(); ++i) {
    if (own && i == own->operand) {
      sample.tensors[i].dtype = own->type;
    } else if (sample.tensors[i].dtype == from) {
      sample.tensors[i].dtype = to;
    }
  }
  try {
    const SampleCall call = callSample(op, sample);
    std::vector<std::string> results;
    for (const ValId output : call.outputs) {
      results.emplace_back(nameOf(call.fusion.val(output).dtype()));
    }
    return joinText(results, ", ");
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// Where all operands together are refused, one of them may have a type of its own, as attention's logsumexp has.
std::optional<OwnType> ownTypeIn(const OpInfo& op, const OpSample& sample, PrimType from,
                                 PrimType to) {
  if (std::ranges::count(sample.tensors, from, &OpSample::Tensor::dtype) < 2) {
    return std::nullopt;  // nothing would be left to have the other type
  }
  for (size_t i = 0; i < sample.tensors.size() && sample.tensors.size() > 2; ++i) {
    for (const PrimType type : {from, PrimType::Float}) {
      if (sample.tensors[i].dtype == from &&
          resultTypes(op, sample, from, to, OwnType{i, type}).has_value()) {
        return OwnType{i, type};
      }
    }
  }
  return std::nullopt;
}

void tryType(const OpInfo& op, const OpSample& sample, PrimType from, PrimType to,
             OperandTypes& types) {
  std::string name(nameOf(to));
  if (const auto results = resultTypes(op, sample, from, to, std::nullopt)) {
    types.results.emplace_back(std::move(name), *results);
    return;
  }
  if (const std::optional<OwnType> own = ownTypeIn(op, sample, from, to)) {
    name +=
        " (" + operandName(op, sample, own->operand) + ": " + std::string(nameOf(own->type)) + ")";
    types.results.emplace_back(std::move(name), *resultTypes(op, sample, from, to, own));
    return;
  }
  OpSample changed = sample;
  for (OpSample::Tensor& tensor : changed.tensors) {
    tensor.dtype = tensor.dtype == from ? to : tensor.dtype;
  }
  types.refusals.emplace_back(std::move(name), *errorOf(op, changed));
}

std::string placementsText(const std::vector<Placement>& placements) {
  std::vector<std::string> texts;
  std::ranges::transform(placements, std::back_inserter(texts), &Placement::toText);
  return joinText(texts, ", ");
}

/// The rules for operands that are whole or sharded, and for each kind of partial operands.
std::vector<ShardingRule> allRules(const OpCall& call, const DimMap& map) {
  std::vector<ShardingRule> rules =
      shardingRules(call, map, std::vector(map.inputs.size(), Placement::replicate()));
  for (const ReduceKind kind :
       {ReduceKind::Sum, ReduceKind::Avg, ReduceKind::Max, ReduceKind::Min, ReduceKind::Product}) {
    const std::vector<Placement> partial(map.inputs.size(), Placement::partial(kind));
    for (ShardingRule& rule : shardingRules(call, map, partial)) {
      if (std::ranges::find(rules, rule) == rules.end()) {
        rules.push_back(std::move(rule));
      }
    }
  }
  return rules;
}

std::vector<std::pair<std::string, int64_t>> wholeDims(const OpInfo& op, const OpSample& sample,
                                                       const DimMap& map) {
  std::vector<std::pair<std::string, int64_t>> whole;
  for (size_t tensor = 0; tensor < map.inputs.size(); ++tensor) {
    for (size_t dim = 0; dim < map.inputs[tensor].size(); ++dim) {
      const bool isOpaque = std::ranges::any_of(map.inputs[tensor][dim], [&](int32_t factor) {
        return map.factors[static_cast<size_t>(factor)].role == FactorRole::Opaque;
      });
      if (isOpaque) {
        whole.emplace_back(operandName(op, sample, tensor), static_cast<int64_t>(dim));
      }
    }
  }
  return whole;
}

CallShardings shardingsOf(const OpInfo& op, const OpSample& sample) {
  const SampleCall sampled = callSample(op, sample);
  const Expr& expr = sampled.fusion.exprs().front();
  const std::vector<TensorType> tensors = tensorOperands(sampled.fusion, expr.args);
  const OpCall call{&op, &sampled.fusion, expr.args, tensors};
  const DimMap map = op.dimMap(call);
  CallShardings result;
  result.call = print(sampled.fusion);
  for (const ShardingRule& rule : allRules(call, map)) {
    result.rules.emplace_back(placementsText(rule.inputs), placementsText(rule.outputs));
  }
  result.whole = wholeDims(op, sample, map);
  return result;
}

/// Adds the error of each change of one integer argument.
void changeArguments(const OpInfo& op, const OpSample& sample,
                     const std::function<void(const OpSample&)>& tryOut) {
  for (size_t i = 0; i < sample.args.size(); ++i) {
    OpSample changed = sample;
    if (auto* number = std::get_if<Scalar>(&changed.args[i]);
        number != nullptr && op.params[i].kind == ParamKind::Int) {
      *number = Scalar(kOutOfRange);
      tryOut(changed);
    }
    if (auto* list = std::get_if<std::vector<int64_t>>(&changed.args[i]);
        list != nullptr && !list->empty()) {
      list->back() = kOutOfRange;
      tryOut(changed);
      *list = std::get<std::vector<int64_t>>(sample.args[i]);
      list->push_back(list->back());
      tryOut(changed);
    }
  }
}

}  // namespace

std::vector<OperandTypes> operandTypesOf(const OpInfo& op) {
  std::vector<OperandTypes> groups;
  const std::vector<OpSample> samples = samplesOf(op);
  if (samples.empty()) {
    return groups;
  }
  const OpSample& sample = samples.front();
  std::vector<PrimType> seen;
  for (const OpSample::Tensor& tensor : sample.tensors) {
    if (std::ranges::find(seen, tensor.dtype) != seen.end()) {
      continue;
    }
    seen.push_back(tensor.dtype);
    OperandTypes types;
    for (size_t i = 0; i < sample.tensors.size(); ++i) {
      const std::string name = operandName(op, sample, i);
      if (sample.tensors[i].dtype == tensor.dtype &&
          std::ranges::find(types.operands, name) == types.operands.end()) {
        types.operands.push_back(name);
      }
    }
    for (const PrimType type : allPrimTypes()) {
      // Packed 4-bit floats become their unpacked type when an input is defined.
      if (categoryOf(type) != TypeCategory::None && type != PrimType::Index &&
          type != PrimType::Float4_e2m1fn_x2) {
        tryType(op, sample, tensor.dtype, type, types);
      }
    }
    groups.push_back(std::move(types));
  }
  return groups;
}

std::vector<CallShardings> callShardingsOf(const OpInfo& op) {
  std::vector<CallShardings> all;
  for (const OpSample& sample : samplesOf(op)) {
    CallShardings shardings = shardingsOf(op, sample);
    const bool isKnown = std::ranges::any_of(all, [&](const CallShardings& known) {
      return known.rules == shardings.rules && known.whole == shardings.whole;
    });
    if (!isKnown) {
      all.push_back(std::move(shardings));
    }
  }
  return all;
}

std::vector<std::string> argumentErrorsOf(const OpInfo& op) {
  std::vector<std::string> errors;
  const auto tryOut = [&](const OpSample& changed) {
    const std::optional<std::string> error = errorOf(op, changed);
    if (error && std::ranges::find(errors, *error) == errors.end()) {
      errors.push_back(*error);
    }
  };
  const std::vector<OpSample> samples = samplesOf(op);
  if (samples.empty()) {
    return errors;
  }
  const OpSample& sample = samples.front();
  for (size_t tensor = 0; tensor < sample.tensors.size(); ++tensor) {
    for (size_t dim = 0; dim < sample.tensors[tensor].sizes.size(); ++dim) {
      OpSample changed = sample;
      ++changed.tensors[tensor].sizes[dim];
      tryOut(changed);
    }
    OpSample changed = sample;
    changed.tensors[tensor].sizes.push_back(2);
    tryOut(changed);
    changed.tensors[tensor].sizes.clear();
    tryOut(changed);
  }
  changeArguments(op, sample, tryOut);
  return errors;
}

}  // namespace meshfuse
