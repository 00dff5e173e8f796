#include "meshfuse/ops/permute/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::permute {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const int64_t rank = tensorArg(fusion, args[0]).rank();
  const Ints& dims = intsArg(args[1]);
  const auto refuse = [&](std::string_view rule) {
    throwUser(ErrorKind::Runtime,
              {"permute", rule, "got " + toText(dims) + " for " + describe(fusion, args[0]),
               "pass a permutation of its " + std::to_string(rank) + " dimensions"});
  };
  if (static_cast<int64_t>(dims.size()) != rank) {
    refuse("dims argument must have the same length as input");
  }
  for (int64_t dim : dims) {
    if (dim < -rank || dim >= rank) {
      refuse("dims argument is out of range");
    }
  }
  args[1] = wrapDims("permute", dims, rank, "duplicated dimension entries");
}

DimMap dimMap(const OpCall& call) {
  DimMap map;
  map.inputs.emplace_back();
  map.outputs.emplace_back();
  for (const IterDomain& domain : call.tensors[0].domain) {
    const bool inMemory = !domain.isBroadcast || domain.isExpanded();
    map.inputs[0].push_back(inMemory ? DimFactors{map.addFactor(domain.extent)} : DimFactors{});
  }
  for (int64_t dim : intsArg(call.args[1])) {
    map.outputs[0].push_back(map.inputs[0][static_cast<size_t>(dim)]);
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {
      sampleOf({{6, 4}}, {{}, Ints{1, 0}}, {0}),
      sampleOf({{2, 3, 4}}, {{}, Ints{2, 0, -2}}, {0}),
      sampleOf({{5, 1}}, {{}, Ints{1, 0}}, {0}),
  };
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "permute",
      "Reorders dimensions: output dimension i is operand dimension dims[i]; torch.permute",
      {{"arg", ParamKind::Tensor}, {"dims", ParamKind::Ints}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::Movement>, samples});
}

}  // namespace meshfuse::ops::permute
