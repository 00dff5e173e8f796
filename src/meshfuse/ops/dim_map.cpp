#include "meshfuse/ops/dim_map.h"

#include <algorithm>

#include "meshfuse/base/error.h"

namespace meshfuse {

int32_t DimMap::addFactor(IntExpr extent, FactorRole role, ReduceKind reduce) {
  factors.push_back({std::move(extent), role, reduce});
  return static_cast<int32_t>(factors.size()) - 1;
}

DimFactors opaqueDim(DimMap& map, const IntExpr& size) {
  return size.asConstant() == 1 ? DimFactors{}
                                : DimFactors{map.addFactor(size, FactorRole::Opaque)};
}

DimMap factoryDimMap(const std::vector<IntExpr>& sizes) {
  DimMap map;
  map.outputs.emplace_back();
  for (const IntExpr& size : sizes) {
    map.outputs[0].push_back(opaqueDim(map, size));
  }
  return map;
}

IntExpr unifyExtents(const IntExpr& a, const IntExpr& b, std::string_view op,
                     std::string_view what) {
  if (a == b || !b.isConstant()) {
    return a;
  }
  if (!a.isConstant()) {
    return b;
  }
  throwUser(ErrorKind::Runtime,
            {op, "operand sizes must agree (only sizes declared 1 stretch)",
             std::string(what) + " is " + a.toText() + " in one operand and " + b.toText() +
                 " in another",
             "make the sizes equal, or declare the dimension as 1 or use broadcast_in_dim"});
}

namespace {

bool appearsIn(const std::vector<std::vector<DimFactors>>& tensors, int32_t factor) {
  return std::ranges::any_of(tensors, [&](const auto& dims) {
    return std::ranges::any_of(dims, [&](const DimFactors& factors) {
      return std::ranges::find(factors, factor) != factors.end();
    });
  });
}

IterDomain domainOf(const DimMap& map, const DimFactors& factors) {
  if (factors.empty()) {
    return IterDomain::broadcast();
  }
  IntExpr extent = 1;
  bool inMemory = false;
  for (int32_t factor : factors) {
    extent = extent * map.factors[static_cast<size_t>(factor)].extent;
    inMemory = inMemory || map.factors[static_cast<size_t>(factor)].role == FactorRole::Opaque ||
               appearsIn(map.inputs, factor);
  }
  return inMemory ? IterDomain::iteration(extent) : IterDomain::expanded(extent);
}

}  // namespace

std::vector<std::vector<IterDomain>> outputDomains(const DimMap& map) {
  std::vector<std::vector<IterDomain>> domains;
  for (const std::vector<DimFactors>& dims : map.outputs) {
    std::vector<IterDomain>& domain = domains.emplace_back();
    for (const DimFactors& factors : dims) {
      domain.push_back(domainOf(map, factors));
    }
  }
  return domains;
}

}  // namespace meshfuse
