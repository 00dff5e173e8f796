#include "meshfuse/ops/topk/op.h"

#include <optional>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::topk {

namespace {

[[noreturn]] void refuseCount(std::string_view rule, const std::string& found,
                              std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"topk", rule, found, wayOut});
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkOrdered("topk", fusion, args[0]);
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const std::optional<int64_t> count = sizeArg(fusion, args[1]).asConstant();
  if (count.value_or(0) < 0) {
    refuseCount("k must not be negative", "got " + std::to_string(*count), "pass 0, 1 or more");
  }
  if (rank == 0 && count != 1) {
    const std::string found = count ? std::to_string(*count) : describe(fusion, args[1]);
    refuseCount("selected index k out of range", "got k = " + found + " for a 0-d tensor",
                "pass the constant 1");
  }
  args[2] = Scalar(wrapSortDim("topk", intArg(args[2]), rank));
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype, PrimType::Int}; }

DimMap dimMap(const OpCall& call) {
  const IntExpr count = sizeArg(*call.fusion, call.args[1]);
  const int64_t dim = intArg(call.args[2]);
  DimMap map = opaqueDimMap(call, {&dim, 1});
  if (call.tensors[0].rank() == 0) {
    return map;
  }
  const IntExpr& extent = call.tensors[0].domain[static_cast<size_t>(dim)].extent;
  const bool isKnown = extent.isConstant() && count.isConstant();
  if (isKnown && (count.constant() < 0 || count.constant() > extent.constant())) {
    refuseCount("selected index k out of range",
                "got k = " + count.toText() + " for dimension " + std::to_string(dim) +
                    " of size " + extent.toText(),
                "pass a k of at most that size");
  }
  const DimFactors factors = opaqueDim(map, count);
  for (std::vector<DimFactors>& output : map.outputs) {
    output[static_cast<size_t>(dim)] = factors;
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, int64_t count, int64_t dim, bool largest) {
    return unarySample(std::move(sizes),
                       {Scalar(count), Scalar(dim), Scalar(largest), Scalar(true)});
  };
  return {sample({6, 4}, 2, 0, true), sample({6, 12}, 5, -1, false),
          sample({5, 3}, 3, 1, true), sample({2, 3, 4}, 1, 1, false),
          sample({1, 4}, 1, 0, true), sample({6, 2}, 0, 1, true)};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      "topk", "The k largest or smallest elements along a dim, and their indices; torch.topk",
      {{"arg", ParamKind::Tensor},
       {"k", ParamKind::Size},
       {"dim", ParamKind::Int, true, Scalar(-1)},
       {"largest", ParamKind::Bool, true, Scalar(true)},
       {"sorted", ParamKind::Bool, true, Scalar(false)}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.outputCount = 2;
  takeAsValues(op, {"k"});
  return op;
}

}  // namespace meshfuse::ops::topk
