#include "meshfuse/ops/sdpfa_fwd/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/attention.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::sdpfa_fwd {

namespace {

constexpr std::string_view kName = "sdpfa_fwd";
constexpr size_t kBias = 3;
constexpr size_t kMask = 4;
constexpr size_t kOptions = 5;

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkAttention(kName, fusion, {args.data(), 3}, {args.data() + kOptions, 3});
  normalizeDropout(kName, fusion, args[kOptions]);
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const auto check = [&](size_t arg, TypeCategory category, std::string_view rule) {
    if (!isGiven(args[arg])) {
      return;
    }
    const TensorType& type = tensorArg(fusion, args[arg]);
    if (categoryOf(type.dtype) != category || type.rank() > rank) {
      throwUser(ErrorKind::Runtime,
                {kName, rule, "got " + describe(fusion, args[arg]),
                 "pass one that broadcasts to [batch, heads, rows of the query, "
                 "rows of the key]"});
    }
  };
  check(kBias, TypeCategory::Floating, "a bias is added to the scores, so it is floating");
  check(kMask, TypeCategory::Boolean, "a mask is True where a row attends, so it is Bool");
}

std::vector<PrimType> dtypes(const OpCall& call) {
  const PrimType type = call.tensors[0].dtype;
  return {type, attentionSumType(type), PrimType::UInt64, PrimType::UInt64};
}

/// Aligns a bias or mask with the scores from the right; its dimensions of size 1 stretch.
void mapOverScores(DimMap& map, const OpCall& call, const AttentionFactors& factors,
                   size_t tensor) {
  constexpr DimFactors AttentionFactors::* kLast[] = {&AttentionFactors::targets,
                                                      &AttentionFactors::sources};
  const std::vector<DimFactors> scores = attentionDims(factors, kLast);
  const TensorType& type = call.tensors[tensor];
  const size_t offset = scores.size() - type.domain.size();
  for (size_t dim = 0; dim < type.domain.size(); ++dim) {
    if (stretches(type.domain[dim])) {
      continue;
    }
    const DimFactors& over = scores[offset + dim];
    const std::string what = "dimension " + std::to_string(offset + dim) + " of the scores";
    if (over.empty()) {
      unifyExtents(1, type.domain[dim].extent, kName, what);
      continue;
    }
    unifyExtents(map.factors[static_cast<size_t>(over.front())].extent, type.domain[dim].extent,
                 kName, what);
    map.inputs[tensor][dim] = over;
  }
}

DimMap dimMap(const OpCall& call) {
  using Factors = AttentionFactors;
  DimMap map;
  const AttentionOperand operands[] = {
      {0, {&Factors::targets, &Factors::features}},
      {1, {&Factors::sources, &Factors::features}},
      {2, {&Factors::sources, &Factors::valueFeatures}},
  };
  const AttentionFactors factors = mapAttention(map, call, operands, mayDrop(call.args[kOptions]));
  for (size_t tensor = 3; tensor < call.tensors.size(); ++tensor) {
    mapOverScores(map, call, factors, tensor);
  }
  constexpr DimFactors Factors::* kOutput[] = {&Factors::targets, &Factors::valueFeatures};
  map.outputs = {attentionDims(factors, kOutput),
                 attentionDims(factors, {kOutput, 1}),
                 {DimFactors{map.addFactor(2, FactorRole::Opaque)}},
                 {}};
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<std::vector<int64_t>> sizes, std::vector<size_t> tensorArgs,
                         bool isCausal, double dropout = 0) {
    std::vector<Arg> args(8);
    args[kOptions] = Scalar(dropout);
    args[kOptions + 1] = Scalar(isCausal);
    OpSample result = sampleOf(std::move(sizes), std::move(args), std::move(tensorArgs));
    if (result.tensorArgs.back() == kMask) {
      result.tensors.back().dtype = PrimType::Bool;
    }
    return result;
  };
  return {sample({{2, 6, 3, 4}, {2, 6, 5, 4}, {2, 6, 5, 4}}, {0, 1, 2}, false),
          sample({{6, 2, 4, 3}, {6, 2, 4, 3}, {6, 2, 4, 2}}, {0, 1, 2}, true),
          sample({{2, 2, 3, 2, 4}, {2, 2, 3, 2, 4}, {2, 2, 3, 2, 4}}, {0, 1, 2}, true),
          sample({{2, 6, 2, 4}, {2, 6, 3, 4}, {2, 6, 3, 4}, {6, 2, 1}, {2, 1, 2, 3}},
                 {0, 1, 2, 3, 4}, false),
          sample({{2, 6, 3, 4}, {2, 6, 5, 4}, {2, 6, 5, 4}}, {0, 1, 2}, false, 0.5)};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      kName,
      "softmax(query keyᵀ scale + bias) value over [batch, heads, rows, size]: the output, the "
      "logarithm of each row's sum of exponentials, dropout's seed and offset; with dropout_p a "
      "weight "
      "is 0 with that probability, else divided by 1 - dropout_p; a row that attends nowhere gives "
      "0; torch.nn.functional.scaled_dot_product_attention",
      {{"query", ParamKind::Tensor},
       {"key", ParamKind::Tensor},
       {"value", ParamKind::Tensor},
       {"bias", ParamKind::Tensor, true},
       {"mask", ParamKind::Tensor, true},
       {"dropout_p", ParamKind::Operand, true},
       {"is_causal", ParamKind::Operand, true},
       {"scale", ParamKind::Operand, true}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.outputCount = 4;
  op.drawsNumbers = [](const std::vector<Arg>& args) { return mayDrop(args[kOptions]); };
  return op;
}

}  // namespace meshfuse::ops::sdpfa_fwd
