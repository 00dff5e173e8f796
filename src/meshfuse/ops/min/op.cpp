#include "meshfuse/ops/min/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/reduction.h"

namespace meshfuse::ops::min {

OpInfo info() {
  OpInfo op = reductionRecord("min", "Smallest element over dims, NaN if there is one; torch.amin");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeExtremum("min", fusion, args);
  };
  op.dtypes = dtypeOfFirst;
  op.dimMap = [](const OpCall& call) { return reductionDimMap(call, ReduceKind::Min); };
  op.algebra = [](const OpCall&) { return Algebra::MinReduction; };
  return op;
}

}  // namespace meshfuse::ops::min
