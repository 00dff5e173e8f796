#include "meshfuse/ops/opaque_dims.h"

#include <algorithm>

#include "meshfuse/ops/arguments.h"

namespace meshfuse {

DimMap opaqueDimMap(const OpCall& call, std::span<const int64_t> dims) {
  const TensorType& tensor = call.tensors[0];
  DimMap map;
  map.inputs.emplace_back();
  for (int64_t dim = 0; dim < tensor.rank(); ++dim) {
    const IterDomain& domain = tensor.domain[static_cast<size_t>(dim)];
    DimFactors factors;
    if (!domain.isBroadcast || domain.isExpanded()) {
      const bool isOpaque = std::ranges::find(dims, dim) != dims.end();
      factors = {
          map.addFactor(domain.extent, isOpaque ? FactorRole::Opaque : FactorRole::Parallel)};
    }
    map.inputs[0].push_back(std::move(factors));
  }
  map.outputs.assign(call.op->outputCount, map.inputs[0]);
  return map;
}

OpSample unarySample(std::vector<int64_t> sizes, std::vector<Arg> others) {
  others.insert(others.begin(), Arg());
  return sampleOf({std::move(sizes)}, std::move(others), {0});
}

}  // namespace meshfuse
