#include "meshfuse/ops/prod/op.h"

#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::prod {

OpInfo info() {
  OpInfo op = reductionRecord(
      "prod", "Product over dims; bools and integers are multiplied in Int; torch.prod");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeReductionDims("prod", fusion, args);
  };
  op.dtypes = accumulationDtypes;
  op.dimMap = [](const OpCall& call) { return reductionDimMap(call, ReduceKind::Product); };
  op.algebra = [](const OpCall&) { return Algebra::NonLinear; };
  return op;
}

}  // namespace meshfuse::ops::prod
