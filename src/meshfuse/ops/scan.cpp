#include "meshfuse/ops/scan.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/opaque_dims.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse {

namespace {

DimMap scanDimMap(const OpCall& call) {
  const int64_t dim = intArg(call.args[1]);
  return opaqueDimMap(call, {&dim, 1});
}

std::vector<OpSample> scanSamples(const OpInfo& /*op*/) {
  return {unarySample({6, 4}, {Scalar(0)}),
          unarySample({6, 12}, {Scalar(-1)}),
          unarySample({5, 3}, {Scalar(1)}),
          unarySample({2, 3, 4}, {Scalar(1)}),
          unarySample({1, 4}, {Scalar(0)}),
          unarySample({0, 6}, {Scalar(0)}),
          unarySample({4, 6}, {Scalar(1), Scalar(1.5)})};
}

}  // namespace

OpInfo scanRecord(std::string_view name, std::string_view doc) {
  OpInfo op;
  op.name = name;
  op.doc = doc;
  op.params = {
      {"arg", ParamKind::Tensor}, {"dim", ParamKind::Int}, {"init", ParamKind::Operand, true}};
  op.overloads = {{op.params}};
  takeAsValues(op, {"init"});
  op.dtypes = dtypeOfFirst;
  op.dimMap = scanDimMap;
  op.samples = scanSamples;
  return op;
}

void normalizeScan(std::string_view op, const Fusion& fusion, std::vector<Arg>& args) {
  args[1] = Scalar(wrapDim(op, intArg(args[1]), tensorArg(fusion, args[0]).rank()));
  if (isGiven(args[2])) {
    checkNumberFits(op, fusion, args[0], args[2]);
  }
}

}  // namespace meshfuse
