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

/// torch.chunk: ceil-sized chunks, the last one short, later ones empty. The range of chunk `index` of `count`.
IndexRange chunkRange(int64_t size, int64_t count, int64_t index) noexcept;

/// The global indices that the rank at `coordinate` holds of dimension `dim`, as maximal runs in local order. Several runs
/// only for strided shards. Empty when the rank holds nothing.
std::vector<IndexRange> localRuns(const Sharding& sharding, int64_t dim, int64_t globalSize,
                                  std::span<const int64_t> coordinate);

/// Sizes of the local tensor at `coordinate`. Throws UserError(Value) if a placement names a dimension the tensor lacks.
std::vector<int64_t> localSizes(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                std::span<const int64_t> coordinate);

/// Global index of the first local element, per dimension (the global size where the rank holds nothing, as torch gives).
std::vector<int64_t> localOffsets(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                  std::span<const int64_t> coordinate);

/// Strides of a contiguous local tensor whose dimensions lie in memory in the order of `globalStrides`
/// (what torch's from_local / distribute_tensor produce).
std::vector<int64_t> localStrides(std::span<const int64_t> globalSizes, std::span<const int64_t> globalStrides,
                                  std::span<const int64_t> localSizes);

/// The number of shards dimension `dim` is cut into (product over the axes that shard it).
int64_t shardCount(const Sharding& sharding, int64_t dim) noexcept;

/// Whether every sharded dimension divides by the number of its shards, so that all ranks hold equal shapes.
bool isEven(const Sharding& sharding, std::span<const int64_t> globalSizes) noexcept;

/// Global sizes of an evenly sharded tensor from its local sizes.
std::vector<int64_t> globalSizesOfEven(const Sharding& sharding, std::span<const int64_t> localSizes);

}  // namespace meshfuse
