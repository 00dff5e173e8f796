#include "meshfuse/ops/gather/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/indexing.h"

namespace meshfuse::ops::gather {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  normalizeTaking("gather", fusion, args);
}

/// The index addresses a leading part of the operand.
DimFactors carry(const OpCall& call, DimMap& map, int64_t dim) {
  return pairLeadingPart(map, call.tensors, 0, 1, dim, "gather");
}

DimMap dimMap(const OpCall& call) { return takenDimMap(call, carry); }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {takingSample({4, 6}, {6, 6}, 0), takingSample({6, 5}, {6, 12}, 1),
          takingSample({6, 4}, {2, 3}, 0), takingSample({5, 3}, {5, 1}, 1)};
}

}  // namespace

OpInfo info() {
  return takingOp(
      "gather",
      "For each element of index the operand's element at that position of dim; the index may be "
      "smaller in other dims; torch.gather",
      {normalize, dtypeOfFirst, dimMap, always<Algebra::LinearInFirst>, samples});
}

}  // namespace meshfuse::ops::gather
