#include "meshfuse/ops/triu/op.h"

#include <array>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::triu {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  if (tensorArg(fusion, args[0]).rank() < 2) {
    throwUser(ErrorKind::Runtime,
              {"triu", "the tensor must have 2 or more dims", "got " + describe(fusion, args[0]),
               "give it a second dimension with broadcast_in_dim"});
  }
}

/// A shard of the matrices does not know where its elements lie.
DimMap dimMap(const OpCall& call) {
  const int64_t rank = call.tensors[0].rank();
  return opaqueDimMap(call, std::array{rank - 2, rank - 1});
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {unarySample({6, 4}, {Scalar(0)}),    unarySample({4, 6}, {Scalar(1)}),
          unarySample({5, 3}, {Scalar(-2)}),   unarySample({6, 3, 4}, {Scalar(-1)}),
          unarySample({2, 6, 1}, {Scalar(0)}), unarySample({6, 0, 4}, {Scalar(7)})};
}

}  // namespace

OpInfo info() {
  // An element is moved or zero on every rank, and zeros combine to zero in any way.
  return structuredOp(
      "triu",
      "The upper triangles of the matrices in the last two dims, from a diagonal on, zero below; "
      "torch.triu",
      {{"arg", ParamKind::Tensor}, {"diagonal", ParamKind::Int, true, Scalar(0)}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::triu
