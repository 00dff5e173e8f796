#include "meshfuse/mesh/placement.h"

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

constexpr std::string_view kReduceNames[] = {"sum", "avg", "max", "min", "product"};

}  // namespace

std::string_view nameOf(ReduceKind kind) noexcept {
  return kReduceNames[static_cast<size_t>(kind)];
}

std::optional<ReduceKind> reduceKindFromName(std::string_view name) noexcept {
  for (size_t i = 0; i < std::size(kReduceNames); ++i) {
    if (kReduceNames[i] == name) {
      return static_cast<ReduceKind>(i);
    }
  }
  return std::nullopt;
}

std::string Placement::toText() const {
  switch (kind) {
    case PlacementKind::Replicate:
      return "R";
    case PlacementKind::Shard:
      return "S(" + std::to_string(dim) + ")";
    case PlacementKind::StridedShard:
      return "_S(" + std::to_string(dim) + ", " + std::to_string(splitFactor) + ")";
    case PlacementKind::Partial:
      return std::string("P(").append(nameOf(reduce)) + ")";
  }
  throwInternal("a placement is of a known kind");
}

}  // namespace meshfuse
