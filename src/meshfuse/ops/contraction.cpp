#include "meshfuse/ops/contraction.h"

#include "meshfuse/base/error.h"

namespace meshfuse {

bool stretches(const IterDomain& domain) { return domain.isBroadcast && !domain.isExpanded(); }

namespace {

const IterDomain& domainAt(std::span<const TensorType> tensors, size_t operand, int64_t dim) {
  return tensors[operand].domain[static_cast<size_t>(dim)];
}

}  // namespace

DimFactors pairDims(DimMap& map, std::span<const TensorType> tensors, size_t a, int64_t dimA,
                    size_t b, int64_t dimB, FactorRole role, std::string_view op,
                    std::string_view what) {
  const IterDomain& domainA = domainAt(tensors, a, dimA);
  const IterDomain& domainB = domainAt(tensors, b, dimB);
  if (stretches(domainA) && stretches(domainB)) {
    return {};
  }
  // Contracted dimensions do not stretch: a declared 1 must meet a 1.
  const bool unify = role == FactorRole::Reduced || (!stretches(domainA) && !stretches(domainB));
  const IntExpr extent = unify ? unifyExtents(domainA.extent, domainB.extent, op, what)
                               : (stretches(domainA) ? domainB.extent : domainA.extent);
  const DimFactors factors{map.addFactor(extent, role)};
  if (!stretches(domainA)) {
    map.inputs[a][static_cast<size_t>(dimA)] = factors;
  }
  if (!stretches(domainB)) {
    map.inputs[b][static_cast<size_t>(dimB)] = factors;
  }
  return factors;
}

void checkProductType(std::string_view op, PrimType type) {
  if (type == PrimType::Bool) {
    throwUser(ErrorKind::Runtime, {op, "products are summed in the operands' type", "got Bool",
                                   "cast the operands to DataType.Int"});
  }
}

DimFactors ownDim(DimMap& map, std::span<const TensorType> tensors, size_t a, int64_t dim,
                  FactorRole role) {
  const IterDomain& domain = domainAt(tensors, a, dim);
  if (stretches(domain)) {
    return {};
  }
  const DimFactors factors{map.addFactor(domain.extent, role)};
  map.inputs[a][static_cast<size_t>(dim)] = factors;
  return factors;
}

}  // namespace meshfuse
