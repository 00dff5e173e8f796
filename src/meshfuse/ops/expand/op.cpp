#include "meshfuse/ops/expand/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/stretch.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::expand {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkSizes("expand", fusion, args[1], -1);
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  if (static_cast<int64_t>(sizesArg(fusion, args[1]).size()) < rank) {
    throwUser(ErrorKind::Runtime,
              {"expand", "the shape has a size for each dimension of the operand",
               "got shape " + sizesText(fusion, args[1]) + " for " + describe(fusion, args[0]),
               "pass at least " + std::to_string(rank) + " sizes"});
  }
}

DimMap dimMap(const OpCall& call) {
  const std::vector<IntExpr> shape = sizesArg(*call.fusion, call.args[1]);
  const auto rank = static_cast<size_t>(call.tensors[0].rank());
  Ints places(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    places[dim] = static_cast<int64_t>(shape.size() - rank + dim);
  }
  return stretchDimMap(call, shape, places);
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {sampleOf({{6, 1}}, {{}, Ints{6, 4}}, {0}), sampleOf({{4}}, {{}, Ints{2, -1}}, {0}),
          sampleOf({{1, 5}}, {{}, Ints{3, 4, 5}}, {0}), sampleOf({{}}, {{}, Ints{2}}, {0})};
}

}  // namespace

OpInfo info() {
  return structuredOp("expand",
                      "Stretched to a shape, with new dimensions in front; torch.Tensor.expand",
                      {{"arg", ParamKind::Tensor}, {"shape", ParamKind::Sizes}},
                      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::expand
