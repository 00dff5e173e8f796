// Dimension maps: which input dimensions become which output dimensions of an operation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/mesh/placement.h"

namespace meshfuse {

enum class FactorRole : uint8_t {
  Parallel,  // each index is computed independently of the others
  Reduced,   // contracted away; partial results combine by `reduce`
  Opaque,    // the op needs the whole of it: never sharded
};

/// An index range that an operation iterates over. A dimension of a tensor is a product of factors.
struct Factor {
  IntExpr extent = 1;
  FactorRole role = FactorRole::Parallel;
  ReduceKind reduce = ReduceKind::Sum;
};

/// The factors of one dimension, major to minor (indices into DimMap::factors). Empty: extent 1, or a broadcast.
using DimFactors = std::vector<int32_t>;

/// For every tensor operand and every output, the factors of each dimension. The single source for shape inference, sharding
/// propagation and index maps. Example, matmul [M, K] x [K, N]: factors m, n (Parallel), k (Reduced, Sum);
/// inputs {{m},{k}}, {{k},{n}}; output {{m},{n}}.
struct DimMap {
  std::vector<Factor> factors;
  std::vector<std::vector<DimFactors>> inputs;
  std::vector<std::vector<DimFactors>> outputs;

  int32_t addFactor(IntExpr extent, FactorRole role = FactorRole::Parallel,
                    ReduceKind reduce = ReduceKind::Sum);
};

/// The factors of an output dimension that is made anew and whole: none for size 1, which broadcasts as a declared 1 does.
DimFactors opaqueDim(DimMap& map, const IntExpr& size);

/// The map of an operation that makes a tensor of `sizes` from nothing: whole on every rank.
DimMap factoryDimMap(const std::vector<IntExpr>& sizes);

/// Two extents that must be the same: the constant one wins over the symbolic; unequal constants throw UserError(Runtime)
/// naming `op`, `what` and both.
IntExpr unifyExtents(const IntExpr& a, const IntExpr& b, std::string_view op,
                     std::string_view what);

/// The output dimensions that the map implies. A dimension without factors is a broadcast; one whose factors appear in no
/// input is an expanded broadcast.
std::vector<std::vector<IterDomain>> outputDomains(const DimMap& map);

}  // namespace meshfuse
