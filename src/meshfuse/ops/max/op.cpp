#include "meshfuse/ops/max/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::max {

OpInfo info() {
  OpInfo op = reductionRecord("max", "Largest element over dims, NaN if there is one; torch.amax");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeExtremum("max", fusion, args);
  };
  op.dtypes = dtypeOfFirst;
  op.dimMap = [](const OpCall& call) { return reductionDimMap(call, ReduceKind::Max); };
  op.algebra = [](const OpCall&) { return Algebra::MaxReduction; };
  return op;
}

}  // namespace meshfuse::ops::max
