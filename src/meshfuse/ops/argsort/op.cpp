#include "meshfuse/ops/argsort/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::argsort {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkOrdered("argsort", fusion, args[0]);
  args[1] = Scalar(wrapSortDim("argsort", intArg(args[1]), tensorArg(fusion, args[0]).rank()));
}

DimMap dimMap(const OpCall& call) {
  const int64_t dim = intArg(call.args[1]);
  return opaqueDimMap(call, {&dim, 1});
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, int64_t dim, bool descending) {
    return unarySample(std::move(sizes), {Scalar(dim), Scalar(descending), Scalar(true)});
  };
  return {sample({6, 4}, 0, false),    sample({6, 12}, -1, true), sample({5, 3}, 1, false),
          sample({2, 3, 4}, 1, false), sample({1, 4}, 0, true),   sample({0, 6}, 0, false)};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "argsort", "Indices that sort the elements along a dim, NaN being the largest; torch.argsort",
      {{"arg", ParamKind::Tensor},
       {"dim", ParamKind::Int},
       {"descending", ParamKind::Bool, true, Scalar(false)},
       {"stable", ParamKind::Bool, true, Scalar(false)}},
      {normalize, [](const OpCall&) { return std::vector{PrimType::Int}; }, dimMap,
       always<Algebra::NonLinear>, samples});
}

}  // namespace meshfuse::ops::argsort
