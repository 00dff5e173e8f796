#include "meshfuse/ops/broadcast_in_dim/op.h"

#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/stretch.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::broadcast_in_dim {

namespace {

constexpr std::string_view kName = "broadcast_in_dim";

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const size_t outputRank = sizesArg(fusion, args[1]).size();
  const Ints& dims = intsArg(args[2]);
  checkSizes(kName, fusion, args[1], -1);
  if (static_cast<int64_t>(dims.size()) != rank || static_cast<int64_t>(outputRank) < rank) {
    throwUser(ErrorKind::Runtime,
              {kName, "broadcast_dims names one output dimension for each dimension of the operand",
               "got shape " + sizesText(fusion, args[1]) + " and broadcast_dims " + toText(dims) +
                   " for " + describe(fusion, args[0]),
               "pass " + std::to_string(rank) + " broadcast_dims and at least as many sizes"});
  }
  Ints wrapped =
      wrapDims(kName, dims, static_cast<int64_t>(outputRank), "broadcast_dims are not unique");
  // Dimensions are placed in the order of the operand: broadcast_dims names places and permutes nothing.
  std::ranges::sort(wrapped);
  args[2] = std::move(wrapped);
}

DimMap dimMap(const OpCall& call) {
  return stretchDimMap(call, sizesArg(*call.fusion, call.args[1]), intsArg(call.args[2]));
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{6}}, {{}, Ints{6, 3}, Ints{0}}, {0}),
      sampleOf({{4}}, {{}, Ints{2, -1}, Ints{1}}, {0}),
      sampleOf({{5, 1}}, {{}, Ints{5, 1, 4}, Ints{0, 2}}, {0}),
      sampleOf({{}}, {{}, Ints{2, 3}, Ints{}}, {0}),
  };
}

}  // namespace

OpInfo info() {
  return structuredOp(kName,
                      "Places the operand's dimensions among new ones and stretches to a shape; "
                      "jax.lax.broadcast_in_dim",
                      {{"arg", ParamKind::Tensor},
                       {"shape", ParamKind::Sizes},
                       {"broadcast_dims", ParamKind::Ints}},
                      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::broadcast_in_dim
