#include "meshfuse/ops/select/op.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::select {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  args[2] = Scalar(wrapDim("select", intArg(args[2]), tensorArg(fusion, args[0]).rank()));
  const Val& index = fusion.val(std::get<ValId>(args[1]));
  const bool isNumber = !index.isTensor() || index.tensor().rank() == 0;
  if (!isNumber || categoryOf(index.dtype()) != TypeCategory::Integral) {
    throwUser(ErrorKind::Runtime,
              {"select", "the index is an integer scalar or a 0-d tensor of integers",
               "got " + describe(fusion, args[1]), "use index_select for several indices"});
  }
}

DimMap dimMap(const OpCall& call) {
  const auto selected = static_cast<size_t>(intArg(call.args[2]));
  DimMap map;
  map.inputs.resize(call.tensors.size());
  map.outputs.emplace_back();
  const std::vector<IterDomain>& domains = call.tensors[0].domain;
  for (size_t dim = 0; dim < domains.size(); ++dim) {
    if (dim == selected) {
      map.inputs[0].push_back({map.addFactor(domains[dim].extent, FactorRole::Opaque)});
      continue;
    }
    const bool inMemory = !domains[dim].isBroadcast || domains[dim].isExpanded();
    map.inputs[0].push_back(inMemory ? DimFactors{map.addFactor(domains[dim].extent)}
                                     : DimFactors{});
    map.outputs[0].push_back(map.inputs[0].back());
  }
  return map;
}

/// An index that is a tensor must be whole.
Algebra algebra(const OpCall& call) {
  return call.tensors.size() > 1 ? Algebra::NonLinear : Algebra::Movement;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, int64_t dim) {
    OpSample result = sampleOf({std::move(sizes), {}}, {{}, {}, Scalar(dim)}, {0, 1});
    result.tensors[1] = {PrimType::Int, {}, 0.0, 2.0};
    return result;
  };
  return {sample({6, 4}, 1), sample({6, 4}, 0), sample({2, 5, 3}, 2)};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      "select", "One index of a dimension, which goes away; torch.select",
      {{"arg", ParamKind::Tensor}, {"index", ParamKind::Value}, {"dim", ParamKind::Int}},
      {normalize, dtypeOfFirst, dimMap, algebra, samples});
}

}  // namespace meshfuse::ops::select
