#include "meshfuse/ops/stretch.h"

#include <algorithm>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

bool keeps(const IntExpr& size) { return size.asConstant() == -1; }
bool isOne(const IntExpr& size) { return size.asConstant() == 1; }

[[noreturn]] void refuseKeep(const OpCall& call, size_t position) {
  throwUser(ErrorKind::Runtime, {call.op->name, "-1 keeps the size of an operand's dimension",
                                 "dimension " + std::to_string(position) + " of the result is new",
                                 "give the new dimension a size"});
}

/// The factors of output dimension `position` that operand dimension `domain` becomes.
DimFactors mapDim(const OpCall& call, DimMap& map, const IterDomain& domain, const IntExpr& size,
                  size_t position, DimFactors& input) {
  const bool stretches = domain.isBroadcast && !domain.isExpanded();
  if (stretches) {
    return isOne(size) || keeps(size) ? DimFactors{} : DimFactors{map.addFactor(size)};
  }
  const IntExpr extent = keeps(size) ? domain.extent
                                     : unifyExtents(domain.extent, size, call.op->name,
                                                    "dimension " + std::to_string(position));
  input = {map.addFactor(extent)};
  return input;
}

}  // namespace

DimMap stretchDimMap(const OpCall& call, const std::vector<IntExpr>& shape, const Ints& places) {
  const TensorType& tensor = call.tensors[0];
  checkSizes(call.op->name, *call.fusion, call.args[1], -1);  // those known at run time as well
  DimMap map;
  map.inputs.emplace_back(tensor.domain.size());
  map.outputs.emplace_back();
  for (size_t position = 0; position < shape.size(); ++position) {
    const IntExpr& size = shape[position];
    const auto found = std::ranges::find(places, static_cast<int64_t>(position));
    if (found != places.end()) {
      const auto dim = static_cast<size_t>(found - places.begin());
      map.outputs[0].push_back(
          mapDim(call, map, tensor.domain[dim], size, position, map.inputs[0][dim]));
    } else if (keeps(size)) {
      refuseKeep(call, position);
    } else {
      map.outputs[0].push_back(isOne(size) ? DimFactors{} : DimFactors{map.addFactor(size)});
    }
  }
  return map;
}

}  // namespace meshfuse
