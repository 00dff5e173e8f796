#include "meshfuse/ops/linear/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::linear {

namespace {

void checkRank(const Fusion& fusion, const Arg& arg, bool ok, std::string_view rule) {
  if (!ok) {
    throwUser(ErrorKind::Runtime, {"linear", rule, "got " + describe(fusion, arg),
                                   "pass input [..., K], weight [N, K], bias [N]"});
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkRank(fusion, args[0], tensorArg(fusion, args[0]).rank() >= 1,
            "the input has at least one dimension");
  checkRank(fusion, args[1], tensorArg(fusion, args[1]).rank() == 2,
            "the weight has two dimensions");
  if (isGiven(args[2])) {
    checkRank(fusion, args[2], tensorArg(fusion, args[2]).rank() == 1,
              "the bias has one dimension");
  }
}

std::vector<PrimType> dtypes(const OpCall& call) {
  checkSameDtype("linear", call.tensors);
  checkProductType("linear", call.tensors[0].dtype);
  return {call.tensors[0].dtype};
}

DimMap dimMap(const OpCall& call) {
  DimMap map;
  for (const TensorType& tensor : call.tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  map.outputs.emplace_back();
  const int64_t last = call.tensors[0].rank() - 1;
  for (int64_t dim = 0; dim < last; ++dim) {
    map.outputs[0].push_back(ownDim(map, call.tensors, 0, dim));
  }
  const bool hasBias = call.tensors.size() > 2;
  if (hasBias) {
    // The bias does not stretch over the weight's rows, nor they over it.
    unifyExtents(call.tensors[1].domain[0].extent, call.tensors[2].domain[0].extent, "linear",
                 "the bias and the weight's first dimension");
  }
  map.outputs[0].push_back(hasBias ? pairDims(map, call.tensors, 1, 0, 2, 0, FactorRole::Parallel,
                                              "linear", "the bias and the weight's first dimension")
                                   : ownDim(map, call.tensors, 1, 0));
  pairDims(map, call.tensors, 0, last, 1, 1, FactorRole::Reduced, "linear",
           "the contracted dimension");
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{4, 6}, {8, 6}}, {{}, {}, {}}, {0, 1}),
      sampleOf({{4, 6}, {8, 6}, {8}}, {{}, {}, {}}, {0, 1, 2}),
      sampleOf({{2, 4, 6}, {4, 6}, {4}}, {{}, {}, {}}, {0, 1, 2}),
      sampleOf({{3, 5}, {5, 5}, {5}}, {{}, {}, {}}, {0, 1, 2}),
  };
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "linear",
      "input [..., K] times weight [N, K] transposed, plus bias [N]; torch.nn.functional.linear",
      {{"arg1", ParamKind::Tensor}, {"arg2", ParamKind::Tensor}, {"bias", ParamKind::Tensor, true}},
      {normalize, dtypes, dimMap, always<Algebra::Affine>, samples});
}

}  // namespace meshfuse::ops::linear
