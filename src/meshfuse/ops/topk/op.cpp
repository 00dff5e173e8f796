#include "meshfuse/ops/topk/op.h"

#include <optional>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"

namespace meshfuse::ops::topk {

namespace {

[[noreturn]] void refuseCount(std::string_view rule, const std::string& found,
                              std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"topk", rule, found, wayOut});
}

/// The number that `k` stands for: the output's size along the dim, which a definition has to know.
int64_t countOf(const Fusion& fusion, const Arg& k) {
  const ValId* val = std::get_if<ValId>(&k);
  if (val != nullptr && fusion.val(*val).isTensor()) {
    throwUser(ErrorKind::Type,
              {"topk", "incompatible function arguments", "argument 'k' is " + describe(fusion, k),
               "pass a scalar, as in fd.define_scalar(3)"});
  }
  const std::optional<Scalar> number =
      val == nullptr ? std::get<Scalar>(k) : fusion.val(*val).scalar().constant;
  if (!number) {
    refuseCount("k must be a constant", "got " + describe(fusion, k) + ", known at run time only",
                "define it with its value, as in fd.define_scalar(3)");
  }
  if (!number->isInt()) {
    refuseCount("k must be of DataType Int", "got " + number->toText(), "pass a whole number");
  }
  if (number->toInt() < 0) {
    refuseCount("k must not be negative", "got " + number->toText(), "pass 0, 1 or more");
  }
  return number->toInt();
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkOrdered("topk", fusion, args[0]);
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const int64_t count = countOf(fusion, args[1]);
  if (rank == 0 && count != 1) {
    refuseCount("selected index k out of range",
                "got k = " + std::to_string(count) + " for a 0-d tensor", "pass k = 1");
  }
  args[1] = Scalar(count);
  args[2] = Scalar(wrapSortDim("topk", intArg(args[2]), rank));
}

std::vector<PrimType> dtypes(const OpCall& call) { return {call.tensors[0].dtype, PrimType::Int}; }

DimMap dimMap(const OpCall& call) {
  const int64_t count = intArg(call.args[1]);
  const int64_t dim = intArg(call.args[2]);
  DimMap map = opaqueDimMap(call, {&dim, 1});
  if (call.tensors[0].rank() == 0) {
    return map;
  }
  const IntExpr& extent = call.tensors[0].domain[static_cast<size_t>(dim)].extent;
  if (extent.isConstant() && count > extent.constant()) {
    refuseCount("selected index k out of range",
                "got k = " + std::to_string(count) + " for dimension " + std::to_string(dim) +
                    " of size " + extent.toText(),
                "pass a k of at most that size");
  }
  const DimFactors factors =
      count == 1 ? DimFactors{} : DimFactors{map.addFactor(count, FactorRole::Opaque)};
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
  OpInfo op;
  op.name = "topk";
  op.params = {{"arg", ParamKind::Tensor},
               {"k", ParamKind::Operand},
               {"dim", ParamKind::Int, true, Scalar(-1)},
               {"largest", ParamKind::Bool, true, Scalar(true)},
               {"sorted", ParamKind::Bool, true, Scalar(false)}};
  op.overloads = {{op.params}};
  op.outputCount = 2;
  op.doc = "The k largest or smallest elements along a dim, and their indices; torch.topk";
  op.normalize = normalize;
  op.dtypes = dtypes;
  op.dimMap = dimMap;
  op.algebra = [](const OpCall&) { return Algebra::NonLinear; };
  op.samples = samples;
  return op;
}

}  // namespace meshfuse::ops::topk
