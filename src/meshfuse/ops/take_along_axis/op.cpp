#include "meshfuse/ops/take_along_axis/op.h"

#include <string>

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/indexing.h"

namespace meshfuse::ops::take_along_axis {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  normalizeTaking("take_along_axis", fusion, args);
}

/// The index and the operand broadcast against each other.
DimFactors carry(const OpCall& call, DimMap& map, int64_t dim) {
  return pairDims(map, call.tensors, 0, dim, 1, dim, FactorRole::Parallel, "take_along_axis",
                  "dimension " + std::to_string(dim));
}

DimMap dimMap(const OpCall& call) { return takenDimMap(call, carry); }

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {takingSample({4, 6}, {6, 6}, 0), takingSample({6, 5}, {1, 12}, 1),
          takingSample({1, 4, 2}, {6, 2, 2}, 1), takingSample({5, 3}, {5, 1}, 1)};
}

}  // namespace

OpInfo info() {
  return takingOp(
      "take_along_axis",
      "For each element of index the operand's element at that position of dim; other dims "
      "broadcast; torch.take_along_dim",
      {normalize, dtypeOfFirst, dimMap, always<Algebra::LinearInFirst>, samples});
}

}  // namespace meshfuse::ops::take_along_axis
