#include "meshfuse/mesh/shard_arithmetic.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/memory_order.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

void checkCoordinate(const Sharding& sharding, std::span<const int64_t> coordinate) {
  internalCheck(static_cast<int64_t>(coordinate.size()) == sharding.mesh.ndim(),
                "a mesh coordinate has one entry for each axis");
}

void checkDims(const Sharding& sharding, std::span<const int64_t> sizes) {
  for (const Placement& placement : sharding.placements) {
    if (placement.isSharded() && placement.dim >= static_cast<int64_t>(sizes.size())) {
      throwUser(
          ErrorKind::Value,
          {"Sharding", "a sharded dimension must be one of the tensor's",
           "got " + placement.toText() + " for a tensor of shape " + toText(sizes),
           "shard one of its " + std::to_string(sizes.size()) + " dimensions or replicate it"});
    }
  }
}

bool shardsDim(const Placement& placement, int64_t dim) noexcept {
  return placement.isSharded() && placement.dim == dim;
}

/// Calls `visit` with each run of positions, among `size` in a row, that part `index` of `count`
/// gets: one chunk for a Shard; for a StridedShard that chunk of each of `splitFactor` pieces.
template <class Visit>
void forEachPart(const Placement& placement, int64_t size, int64_t count, int64_t index,
                 Visit visit) {
  for (int64_t i = 0; i < placement.splitFactor; ++i) {
    IndexRange piece = chunkRange(size, placement.splitFactor, i);
    if (piece.size() == 0) {
      return;  // and so are all later ones
    }
    IndexRange part = chunkRange(piece.size(), count, index);
    if (part.size() > 0) {
      visit(IndexRange{piece.begin + part.begin, piece.begin + part.end});
    }
  }
}

/// The global indices at positions `part` of a dimension whose local order is `runs`.
void appendPart(std::span<const IndexRange> runs, IndexRange part, std::vector<IndexRange>& out) {
  int64_t start = 0;  // position of the run's first index
  for (const IndexRange& run : runs) {
    int64_t begin = std::max(part.begin, start);
    int64_t end = std::min(part.end, start + run.size());
    if (begin < end) {
      IndexRange taken{run.begin + begin - start, run.begin + end - start};
      if (!out.empty() && out.back().end == taken.begin) {
        out.back().end = taken.end;
      } else {
        out.push_back(taken);
      }
    }
    start += run.size();
  }
}

/// What a rank holds of one dimension: runs of global indices in local order.
struct Held {
  std::vector<IndexRange> runs;
  int64_t size = 0;
};

Held heldWhole(int64_t globalSize) {
  Held held;
  if (globalSize > 0) {
    held.runs.push_back({0, globalSize});
    held.size = globalSize;
  }
  return held;
}

/// Part `index` of `count` of what is held.
Held cut(const Held& held, const Placement& placement, int64_t count, int64_t index) {
  Held kept;
  forEachPart(placement, held.size, count, index, [&](IndexRange part) {
    appendPart(held.runs, part, kept.runs);
    kept.size += part.size();
  });
  return kept;
}

/// Local size of dimension `dim`: sizes alone decide it, so no runs are built.
int64_t localSize(const Sharding& sharding, int64_t dim, int64_t globalSize,
                  std::span<const int64_t> coordinate) {
  int64_t size = globalSize;
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    if (shardsDim(sharding.placements[axis], dim)) {
      int64_t local = 0;
      forEachPart(sharding.placements[axis], size, sharding.mesh.shape()[axis], coordinate[axis],
                  [&local](IndexRange part) { local += part.size(); });
      size = local;
    }
  }
  return size;
}

/// Whether every cut of `dim`, axis by axis and piece by piece, is into equal parts.
bool cutsAreEven(const Sharding& sharding, int64_t dim, int64_t globalSize) noexcept {
  int64_t size = globalSize;
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    if (shardsDim(sharding.placements[axis], dim)) {
      int64_t parts = sharding.mesh.shape()[axis];
      if (size % (parts * sharding.placements[axis].splitFactor) != 0) {
        return false;
      }
      size /= parts;
    }
  }
  return true;
}

/// Whether all ranks hold equally much of `dim`. Plain shards do exactly if their number divides
/// the size. A strided shard can miss that (size 4, factor 4, 2 ranks: 4 and 0) or, with pieces of
/// different length, still reach it, so where no rule decides every coordinate is looked at.
bool isEvenAlong(const Sharding& sharding, int64_t dim, int64_t globalSize) {
  int64_t count = shardCount(sharding, dim);
  if (globalSize % count != 0) {
    return false;
  }
  if (cutsAreEven(sharding, dim, globalSize)) {
    return true;
  }
  for (int64_t i = 0; i < sharding.mesh.size(); ++i) {
    if (localSize(sharding, dim, globalSize, sharding.mesh.coordinateAtLinear(i)) !=
        globalSize / count) {
      return false;
    }
  }
  return true;
}

/// The order in which axes cut `dim` such that plain shards in that order have the strided
/// placements' split factors, which is how torch reads strided placements back; nullopt if there is
/// none.
std::optional<std::vector<size_t>> shardOrderOf(const Sharding& sharding, int64_t dim) {
  std::vector<size_t> order;
  for (size_t axis = sharding.placements.size(); axis-- > 0;) {
    if (!shardsDim(sharding.placements[axis], dim)) {
      continue;
    }
    auto at = order.begin();
    int64_t shardsBefore = 1;
    while (shardsBefore != sharding.placements[axis].splitFactor) {
      if (at == order.end()) {
        return std::nullopt;
      }
      shardsBefore *= sharding.mesh.shape()[*at++];
    }
    order.insert(at, axis);
  }
  return order;
}

/// Whether strided cuts of `dim` and the shard order they stand for leave every rank the same
/// indices.
bool readingsAgree(const Sharding& sharding, int64_t dim, int64_t globalSize) {
  if (cutsAreEven(sharding, dim, globalSize)) {
    return true;
  }
  std::optional<std::vector<size_t>> order = shardOrderOf(sharding, dim);
  if (!order) {
    return true;
  }
  for (int64_t i = 0; i < sharding.mesh.size(); ++i) {
    std::vector<int64_t> coordinate = sharding.mesh.coordinateAtLinear(i);
    Held held = heldWhole(globalSize);
    for (size_t axis : *order) {
      held = cut(held, Placement::shard(dim), sharding.mesh.shape()[axis], coordinate[axis]);
    }
    if (held.runs != localRuns(sharding, dim, globalSize, coordinate)) {
      return false;
    }
  }
  return true;
}

}  // namespace

IndexRange chunkRange(int64_t size, int64_t count, int64_t index) noexcept {
  int64_t chunk = size / count + (size % count != 0 ? 1 : 0);
  int64_t begin = std::min(size, chunk * index);
  return {begin, std::min(size, begin + chunk)};
}

std::vector<IndexRange> localRuns(const Sharding& sharding, int64_t dim, int64_t globalSize,
                                  std::span<const int64_t> coordinate) {
  checkCoordinate(sharding, coordinate);
  Held held = heldWhole(globalSize);
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    if (shardsDim(sharding.placements[axis], dim)) {
      held = cut(held, sharding.placements[axis], sharding.mesh.shape()[axis], coordinate[axis]);
    }
  }
  return held.runs;
}

std::vector<int64_t> localSizes(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                std::span<const int64_t> coordinate) {
  checkCoordinate(sharding, coordinate);
  checkDims(sharding, globalSizes);
  std::vector<int64_t> sizes;
  sizes.reserve(globalSizes.size());
  for (size_t dim = 0; dim < globalSizes.size(); ++dim) {
    sizes.push_back(localSize(sharding, static_cast<int64_t>(dim), globalSizes[dim], coordinate));
  }
  return sizes;
}

std::vector<int64_t> localOffsets(const Sharding& sharding, std::span<const int64_t> globalSizes,
                                  std::span<const int64_t> coordinate) {
  checkDims(sharding, globalSizes);
  std::vector<int64_t> offsets;
  offsets.reserve(globalSizes.size());
  for (size_t dim = 0; dim < globalSizes.size(); ++dim) {
    std::vector<IndexRange> runs =
        localRuns(sharding, static_cast<int64_t>(dim), globalSizes[dim], coordinate);
    offsets.push_back(runs.empty() ? globalSizes[dim] : runs.front().begin);
  }
  return offsets;
}

std::vector<int64_t> localStrides(std::span<const int64_t> globalSizes,
                                  std::span<const int64_t> globalStrides,
                                  std::span<const int64_t> localSizes) {
  internalCheck(
      globalSizes.size() == globalStrides.size() && globalSizes.size() == localSizes.size(),
      "sizes and strides have one entry for each dimension");
  const std::vector<int64_t> order = outermostFirst(globalStrides);
  std::vector<int64_t> strides(globalSizes.size(), 0);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    bool expanded = globalStrides[dim] == 0 && globalSizes[dim] > 1;
    if (!expanded) {
      strides[dim] = stride;
      stride *= std::max<int64_t>(localSizes[dim], 1);
    }
  }
  return strides;
}

int64_t shardCount(const Sharding& sharding, int64_t dim) noexcept {
  int64_t count = 1;
  for (size_t axis = 0; axis < sharding.placements.size(); ++axis) {
    count *= shardsDim(sharding.placements[axis], dim) ? sharding.mesh.shape()[axis] : 1;
  }
  return count;
}

bool isEven(const Sharding& sharding, std::span<const int64_t> globalSizes) {
  checkDims(sharding, globalSizes);
  for (size_t dim = 0; dim < globalSizes.size(); ++dim) {
    if (!isEvenAlong(sharding, static_cast<int64_t>(dim), globalSizes[dim])) {
      return false;
    }
  }
  return true;
}

void checkLayoutIsCertain(const Sharding& sharding, std::span<const int64_t> globalSizes) {
  checkDims(sharding, globalSizes);
  for (const Placement& placement : sharding.placements) {
    if (!placement.isStridedShard() ||
        readingsAgree(sharding, placement.dim, globalSizes[static_cast<size_t>(placement.dim)])) {
      continue;
    }
    std::string count = std::to_string(shardCount(sharding, placement.dim));
    throwUser(
        ErrorKind::Value,
        {"Sharding",
         "a dimension in strided shards must divide evenly where torch has two readings of them",
         "got " + sharding.toText() + " for a tensor of shape " + toText(globalSizes),
         "pad dimension " + std::to_string(placement.dim) + " to a multiple of " + count +
             " or shard it in mesh-axis order"});
  }
}

std::vector<int64_t> globalSizesOfEven(const Sharding& sharding,
                                       std::span<const int64_t> localSizes) {
  checkDims(sharding, localSizes);
  std::vector<int64_t> sizes(localSizes.begin(), localSizes.end());
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    sizes[dim] *= shardCount(sharding, static_cast<int64_t>(dim));
  }
  return sizes;
}

}  // namespace meshfuse
