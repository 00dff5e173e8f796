#include "meshfuse/ops/sdpfa_bwd/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/attention.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::sdpfa_bwd {

namespace {

constexpr std::string_view kName = "sdpfa_bwd";
constexpr size_t kQuery = 1;
constexpr size_t kOutput = 4;
constexpr size_t kSum = 5;
constexpr size_t kDropout = 6;
constexpr size_t kSeed = 8;
constexpr size_t kOffset = 9;
constexpr size_t kScale = 10;

void checkLike(const Fusion& fusion, const Arg& arg, int64_t rank, PrimType dtype,
               std::string_view rule) {
  const TensorType& type = tensorArg(fusion, arg);
  if (type.rank() != rank || type.dtype != dtype) {
    throwUser(ErrorKind::Runtime,
              {kName, rule,
               "got " + describe(fusion, arg) + " where rank " + std::to_string(rank) + " of " +
                   std::string(nameOf(dtype)) + " is expected",
               "pass what sdpfa_fwd gave for these operands"});
  }
}

/// Where elements may have been dropped, seed and offset say which.
void checkStream(const Fusion& fusion, const std::vector<Arg>& args) {
  for (size_t arg : {kSeed, kOffset}) {
    if (!isGiven(args[arg])) {
      if (mayDrop(args[kDropout])) {
        throwUser(ErrorKind::Runtime,
                  {kName, "philox_seed and philox_offset say which elements were dropped",
                   "got one that is None, and a dropout_p", "pass what sdpfa_fwd gave"});
      }
      continue;
    }
    const TensorType& type = tensorArg(fusion, args[arg]);
    const bool isOne = type.rank() == 0 || (arg == kSeed && type.rank() == 1);
    if (!isOne || categoryOf(type.dtype) != TypeCategory::Integral) {
      throwUser(ErrorKind::Runtime,
                {kName, "philox_seed has two whole numbers or one, philox_offset one",
                 "got " + describe(fusion, args[arg]), "pass what sdpfa_fwd gave"});
    }
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const Arg options[] = {args[kDropout], args[kDropout + 1], args[kScale]};
  checkAttention(kName, fusion, {args.data() + kQuery, 3}, options);
  normalizeDropout(kName, fusion, args[kDropout]);
  checkStream(fusion, args);
  const int64_t rank = tensorArg(fusion, args[kQuery]).rank();
  const PrimType type = tensorArg(fusion, args[kQuery]).dtype;
  checkLike(fusion, args[0], rank, type, "grad_output is as the output");
  checkLike(fusion, args[kOutput], rank, type, "output is sdpfa_fwd's");
  checkLike(fusion, args[kSum], rank - 1, attentionSumType(type), "logsumexp is sdpfa_fwd's");
}

std::vector<PrimType> dtypes(const OpCall& call) {
  return std::vector<PrimType>(3, call.tensors[kQuery].dtype);
}

DimMap dimMap(const OpCall& call) {
  using Factors = AttentionFactors;
  DimMap map;
  const AttentionOperand operands[] = {
      {kQuery, {&Factors::targets, &Factors::features}},
      {2, {&Factors::sources, &Factors::features}},
      {3, {&Factors::sources, &Factors::valueFeatures}},
      {0, {&Factors::targets, &Factors::valueFeatures}},
      {kOutput, {&Factors::targets, &Factors::valueFeatures}},
      {kSum, {&Factors::targets}},
  };
  const AttentionFactors factors = mapAttention(map, call, operands, mayDrop(call.args[kDropout]));
  for (size_t tensor = kSum + 1; tensor < call.tensors.size(); ++tensor) {
    for (int64_t dim = 0; dim < call.tensors[tensor].rank(); ++dim) {
      ownDim(map, call.tensors, tensor, dim, FactorRole::Opaque);
    }
  }
  for (size_t operand = 0; operand < 3; ++operand) {
    map.outputs.push_back(attentionDims(factors, operands[operand].last));
  }
  return map;
}

/// Each gradient is linear in the output's.
Algebra algebra(const OpCall& /*call*/) { return Algebra::LinearInFirst; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> query, int64_t sources, int64_t valueFeatures,
                         bool isCausal) {
    const auto resized = [&](int64_t rows, int64_t features) {
      std::vector<int64_t> sizes(query.begin(), query.end() - 2);
      sizes.push_back(rows);
      sizes.push_back(features);
      return sizes;
    };
    const int64_t targets = query[query.size() - 2];
    std::vector<int64_t> sum(query.begin(), query.end() - 1);
    std::vector<Arg> args(11);
    args[7] = Scalar(isCausal);
    OpSample result =
        sampleOf({resized(targets, valueFeatures), query, resized(sources, query.back()),
                  resized(sources, valueFeatures), resized(targets, valueFeatures), sum},
                 std::move(args), {0, 1, 2, 3, 4, 5});
    // An output and logsumexp of no forward pass give large terms that cancel, beyond Float's precision.
    for (OpSample::Tensor& tensor : result.tensors) {
      tensor.dtype = PrimType::Double;
    }
    return result;
  };
  return {sample({2, 6, 3, 4}, 5, 4, false), sample({6, 2, 4, 3}, 4, 2, true),
          sample({2, 2, 3, 2, 4}, 2, 4, true)};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      kName,
      "The gradients of query, key and value in sdpfa_fwd without bias and mask; the backward of "
      "torch.nn.functional.scaled_dot_product_attention",
      {{"grad_output", ParamKind::Tensor},
       {"query", ParamKind::Tensor},
       {"key", ParamKind::Tensor},
       {"value", ParamKind::Tensor},
       {"output", ParamKind::Tensor},
       {"logsumexp", ParamKind::Tensor},
       {"dropout_p", ParamKind::Operand, true},
       {"is_causal", ParamKind::Operand, true},
       {"philox_seed", ParamKind::Tensor, true},
       {"philox_offset", ParamKind::Tensor, true},
       {"scale", ParamKind::Operand, true}},
      {normalize, dtypes, dimMap, algebra, samples});
  op.outputCount = 3;
  return op;
}

}  // namespace meshfuse::ops::sdpfa_bwd
