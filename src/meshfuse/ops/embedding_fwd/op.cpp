#include "meshfuse/ops/embedding_fwd/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::embedding_fwd {

namespace {

constexpr size_t kPadding = 2;
constexpr size_t kMaxNorm = 3;

bool isWhole(const Fusion& fusion, const Arg& number) {
  const ValId* val = std::get_if<ValId>(&number);
  return isIntegralOrBool(
      categoryOf(val != nullptr ? fusion.val(*val).dtype() : std::get<Scalar>(number).type()));
}

/// Options other than max_norm and norm_type concern gradients: none changes the rows.
void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkIndexDtype("embedding_fwd", fusion, args[0]);
  const TensorType& weight = tensorArg(fusion, args[1]);
  if (weight.rank() != 2) {
    throwUser(ErrorKind::Runtime, {"embedding_fwd", "the weight has two dimensions",
                                   "got " + describe(fusion, args[1]), "pass [rows, features]"});
  }
  for (size_t i = 2; i < args.size(); ++i) {
    checkRealNumber("embedding_fwd", fusion, "an option", args[i]);
  }
  if (isGiven(args[kPadding]) && !isWhole(fusion, args[kPadding])) {
    throwUser(ErrorKind::Runtime, {"embedding_fwd", "padding_idx is a row of the weight",
                                   "got a number that is not whole", "pass an integer or None"});
  }
  if (isGiven(args[kMaxNorm]) && categoryOf(weight.dtype) != TypeCategory::Floating) {
    throwUser(ErrorKind::Runtime, {"embedding_fwd", "max_norm scales rows of a floating weight",
                                   "got " + describe(fusion, args[1]), "cast it first"});
  }
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[1].dtype}; }

/// With max_norm a row's norm needs the whole row.
DimMap dimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.inputs.emplace_back(call.tensors[1].domain.size());
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
  }
  ownDim(map, call.tensors, 1, 0, FactorRole::Opaque);
  map.outputs[0].push_back(
      ownDim(map, call.tensors, 1, 1,
             isGiven(call.args[kMaxNorm]) ? FactorRole::Opaque : FactorRole::Parallel));
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> input, std::vector<int64_t> weight,
                         const Arg& maxNorm = {}) {
    OpSample result;
    result.tensors = {
        {PrimType::Int, std::move(input), 0.0, static_cast<double>(weight[0])},
        {PrimType::Float, weight, -2.0, 2.0},
    };
    result.args.resize(7);
    result.args[kMaxNorm] = maxNorm;
    result.tensorArgs = {0, 1};
    return result;
  };
  return {sample({4, 6}, {12, 6}), sample({6}, {5, 4}), sample({}, {6, 3}), sample({1, 5}, {3, 1}),
          sample({4, 6}, {6, 4}, Scalar(1.5))};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "embedding_fwd",
      "The rows of the weight that the input numbers, [*input, features], scaled to max_norm where "
      "their norm is greater; the weight stays as it is; "
      "torch.nn.functional.embedding",
      {{"input", ParamKind::Tensor},
       {"weight", ParamKind::Tensor},
       {"padding_idx", ParamKind::Operand, true},
       {"max_norm", ParamKind::Operand, true},
       {"norm_type", ParamKind::Operand, true},
       {"scale_grad_by_freq", ParamKind::Operand, true},
       {"sparse", ParamKind::Operand, true}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  takeAsValues(op, {"padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"});
  return op;
}

}  // namespace meshfuse::ops::embedding_fwd
