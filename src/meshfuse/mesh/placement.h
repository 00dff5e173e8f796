// How a tensor lies along one mesh axis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meshfuse {

enum class PlacementKind : uint8_t { Replicate, Shard, StridedShard, Partial };

/// How partial values combine. `Sum`, `Avg` are linear; `Max`, `Min` are order statistics.
enum class ReduceKind : uint8_t { Sum, Avg, Max, Min, Product };

std::string_view nameOf(ReduceKind kind) noexcept;  // "sum", "avg", …
std::optional<ReduceKind> reduceKindFromName(std::string_view name) noexcept;

/// One placement: Replicate, Shard(dim), StridedShard(dim, splitFactor) or Partial(kind). Plain
/// data, 12 bytes.
struct Placement {
  PlacementKind kind = PlacementKind::Replicate;
  ReduceKind reduce = ReduceKind::Sum;  // Partial only
  int32_t dim = -1;                     // Shard and StridedShard only
  int32_t splitFactor = 1;              // StridedShard only

  static constexpr Placement replicate() noexcept { return {}; }
  static constexpr Placement shard(int64_t dim) noexcept {
    return {PlacementKind::Shard, ReduceKind::Sum, static_cast<int32_t>(dim), 1};
  }
  static constexpr Placement stridedShard(int64_t dim, int64_t splitFactor) noexcept {
    return {PlacementKind::StridedShard, ReduceKind::Sum, static_cast<int32_t>(dim),
            static_cast<int32_t>(splitFactor)};
  }
  static constexpr Placement partial(ReduceKind kind = ReduceKind::Sum) noexcept {
    return {PlacementKind::Partial, kind, -1, 1};
  }

  constexpr bool isReplicate() const noexcept { return kind == PlacementKind::Replicate; }
  constexpr bool isPartial() const noexcept { return kind == PlacementKind::Partial; }
  constexpr bool isShard() const noexcept { return kind == PlacementKind::Shard; }
  constexpr bool isStridedShard() const noexcept { return kind == PlacementKind::StridedShard; }
  /// Shard or StridedShard.
  constexpr bool isSharded() const noexcept { return isShard() || isStridedShard(); }

  constexpr bool operator==(const Placement&) const = default;
  /// torch's short form: `R`, `S(0)`, `_S(0, 2)`, `P(sum)`.
  std::string toText() const;
};

}  // namespace meshfuse
