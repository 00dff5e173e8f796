// Local shapes, offsets and index sets of a sharded tensor, by torch's chunk rule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/mesh/sharding.h"

namespace meshfuse {

/// A half-open run of global indices.
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const noexcept { return end - begin; }
  bool operator==(const IndexRange&) const = default;
};

/// The range of chunk `index` of `count` (at least 1) by the rule of torch.chunk: ceil-sized
/// chunks, the last one short, later ones empty.
IndexRange chunkRange(int64_t size, int64_t count, int64_t index) noexcept;

/// The global indices that the rank at `coordinate` holds of dimension `dim`, as maximal runs in
/// local order. Several runs only for strided shards. Empty when the rank holds nothing.
std::vector<IndexRange> localRuns(const Sharding& sharding, int64_t dim, int64_t globalSize,
                                  std::span<const int64_t> coordinate);

/// Sizes of the local tensor at `coordinate`. Throws UserError(Value) if a placement names a
/// dimension the tensor lacks.
std::vector<int64_t> localSizes(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                std::span<const int64_t> coordinate);

/// Global index of the first local element, per dimension; the global size where the rank holds
/// nothing, as torch gives it. Throws as `localSizes` does.
std::vector<int64_t> localOffsets(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                  std::span<const int64_t> coordinate);

/// Strides of a dense local tensor whose dimensions lie in memory in the order of `globalStrides`;
/// dimensions expanded globally (stride 0, size above 1) stay expanded.
std::vector<int64_t> localStrides(std::span<const int64_t> globalSizes,
                                  std::span<const int64_t> globalStrides,
                                  std::span<const int64_t> localSizes);

/// The number of shards dimension `dim` is cut into (product over the axes that shard it).
int64_t shardCount(const Sharding& sharding, int64_t dim) noexcept;

/// Whether all ranks hold equal shapes: every sharded dimension divides by the number of its
/// shards, and strided ones by their split factors too. Throws as `localSizes` does.
bool isEven(const Sharding& sharding, std::span<const int64_t> globalSizes);

/// Refuses sizes for which it depends on how a tensor was made who holds what. Strided placements
/// are one split to `distribute_tensor` (the one of `localRuns`) and stand for a shard order to
/// FSDP and to redistribution; for some uneven sizes the two differ (size 13 on a (3, 2) mesh,
/// innermost axis first). Throws UserError(Value) for those, and as `localSizes` does.
void checkLayoutIsCertain(const Sharding& sharding, std::span<const int64_t> globalSizes);

/// Global sizes of an evenly sharded tensor from its local sizes. Throws as `localSizes` does.
std::vector<int64_t> globalSizesOfEven(const Sharding& sharding,
                                       std::span<const int64_t> localSizes);

}  // namespace meshfuse
