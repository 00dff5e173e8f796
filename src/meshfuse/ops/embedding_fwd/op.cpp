#include "meshfuse/ops/embedding_fwd/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"

namespace meshfuse::ops::embedding_fwd {

namespace {

constexpr size_t kMaxNorm = 3;

/// The other options concern gradients, or how max_norm is applied: none changes the rows.
void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkIndexDtype("embedding_fwd", fusion, args[0]);
  if (tensorArg(fusion, args[1]).rank() != 2) {
    throwUser(ErrorKind::Runtime, {"embedding_fwd", "the weight has two dimensions",
                                   "got " + describe(fusion, args[1]), "pass [rows, features]"});
  }
  for (size_t i = 2; i < args.size(); ++i) {
    const ValId* val = std::get_if<ValId>(&args[i]);
    if (val != nullptr && fusion.val(*val).isTensor()) {
      throwUser(ErrorKind::Runtime,
                {"embedding_fwd", "options are numbers",
                 "got the tensor " + describe(fusion, args[i]), "pass a scalar or None"});
    }
  }
  if (isGiven(args[kMaxNorm])) {
    throwUser(ErrorKind::Runtime,
              {"embedding_fwd", "max_norm is not supported", "got a value for it",
               "pass None, and renormalize the weight beforehand"});
  }
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[1].dtype}; }

DimMap dimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  map.inputs.emplace_back(call.tensors[1].domain.size());
  map.outputs.emplace_back();
  for (int64_t dim = 0; dim < call.tensors[0].rank(); ++dim) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
  }
  ownDim(map, call.tensors, 1, 0, FactorRole::Opaque);
  map.outputs[0].push_back(ownDim(map, call.tensors, 1, 1));
  return map;
}

Algebra algebra(const OpCall& /*call*/) { return Algebra::NonLinear; }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> input, std::vector<int64_t> weight) {
    OpSample result;
    result.tensors = {
        {PrimType::Int, std::move(input), 0.0, static_cast<double>(weight[0])},
        {PrimType::Float, weight, -2.0, 2.0},
    };
    result.args.resize(7);
    result.tensorArgs = {0, 1};
    return result;
  };
  return {sample({4, 6}, {12, 6}), sample({6}, {5, 4}), sample({}, {6, 3}), sample({1, 5}, {3, 1})};
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "embedding_fwd";
  op.params = {{"input", ParamKind::Tensor},
               {"weight", ParamKind::Tensor},
               {"padding_idx", ParamKind::Operand, true},
               {"max_norm", ParamKind::Operand, true},
               {"norm_type", ParamKind::Operand, true},
               {"scale_grad_by_freq", ParamKind::Operand, true},
               {"sparse", ParamKind::Operand, true}};
  op.overloads = {{op.params}};
  op.doc =
      "The rows of the weight that the input numbers, [*input, features]; "
      "torch.nn.functional.embedding";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = algebra;
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::embedding_fwd
