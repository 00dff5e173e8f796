#include "meshfuse/mesh/sharding.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

constexpr std::string_view kDeviceNames[] = {"cpu", "cuda", "meta"};

std::string textOf(std::span<const Placement> placements) {
  std::vector<std::string> parts;
  for (const Placement& placement : placements) {
    parts.push_back(placement.toText());
  }
  return "(" + joinText(parts, ", ") + ")";
}

std::string textOf(std::span<const ShardOrderEntry> order) {
  std::vector<std::string> parts;
  for (const ShardOrderEntry& entry : order) {
    parts.push_back("dim " + std::to_string(entry.tensorDim) + " by axes " +
                    toText(entry.meshAxes));
  }
  return joinText(parts, ", ");
}

[[noreturn]] void refusePlacement(const Placement& placement, std::string_view rule,
                                  std::string_view wayOut) {
  throwUser(ErrorKind::Value, {"Sharding", rule, "got " + placement.toText(), wayOut});
}

/// Checks one placement and clears the fields its kind does not use, so that equal placements
/// compare equal.
Placement normalized(const Placement& placement) {
  switch (placement.kind) {
    case PlacementKind::Replicate:
      return Placement::replicate();
    case PlacementKind::Partial:
      return Placement::partial(placement.reduce);
    case PlacementKind::Shard:
    case PlacementKind::StridedShard:
      break;
  }
  if (placement.dim < 0) {
    refusePlacement(placement, "a sharded dimension is counted from 0",
                    "add the tensor's rank to a negative dimension");
  }
  if (placement.isShard() || placement.splitFactor == 1) {
    return Placement::shard(placement.dim);
  }
  if (placement.splitFactor < 1) {
    refusePlacement(placement, "a split factor is at least 1", "use Shard for a factor of 1");
  }
  return placement;
}

/// The axes that shard each tensor dimension, outermost axis first.
std::vector<ShardOrderEntry> defaultOrder(std::span<const Placement> placements) {
  std::vector<ShardOrderEntry> order;
  for (size_t axis = 0; axis < placements.size(); ++axis) {
    if (!placements[axis].isSharded()) {
      continue;
    }
    int64_t dim = placements[axis].dim;
    auto entry = std::find_if(order.begin(), order.end(),
                              [dim](const ShardOrderEntry& e) { return e.tensorDim == dim; });
    if (entry == order.end()) {
      entry = order.insert(order.end(), ShardOrderEntry{dim, {}});
    }
    entry->meshAxes.push_back(static_cast<int64_t>(axis));
  }
  return order;
}

void sortByDim(std::vector<ShardOrderEntry>& order) {
  std::sort(order.begin(), order.end(), [](const ShardOrderEntry& a, const ShardOrderEntry& b) {
    return a.tensorDim < b.tensorDim;
  });
}

/// Whether `order` names exactly the axes that `placements` shard, each under its dimension and
/// once.
bool isPermutationOfDefault(std::vector<ShardOrderEntry> order,
                            std::vector<ShardOrderEntry> natural) {
  for (ShardOrderEntry& entry : order) {
    std::sort(entry.meshAxes.begin(), entry.meshAxes.end());
  }
  sortByDim(order);
  sortByDim(natural);
  return order == natural;
}

/// An axis of a dimension's order becomes strided by the shards that axes inside it have made
/// before it.
void applyOrder(const DeviceMesh& mesh, const ShardOrderEntry& entry,
                std::vector<Placement>& placements) {
  for (size_t i = 0; i < entry.meshAxes.size(); ++i) {
    int64_t axis = entry.meshAxes[i];
    int64_t factor = 1;
    for (size_t earlier = 0; earlier < i; ++earlier) {
      factor *= entry.meshAxes[earlier] > axis ? mesh.size(entry.meshAxes[earlier]) : 1;
    }
    if (factor > std::numeric_limits<int32_t>::max()) {
      throwUser(ErrorKind::Value,
                {"Sharding", "a split factor has at most 31 bits", "got " + std::to_string(factor),
                 "shard the dimension over fewer ranks"});
    }
    placements[static_cast<size_t>(axis)] = factor == 1
                                                ? Placement::shard(entry.tensorDim)
                                                : Placement::stridedShard(entry.tensorDim, factor);
  }
}

void applyShardOrder(const DeviceMesh& mesh, std::span<const ShardOrderEntry> order,
                     std::vector<Placement>& placements) {
  std::vector<ShardOrderEntry> given(order.begin(), order.end());
  std::vector<ShardOrderEntry> natural = defaultOrder(placements);
  if (!isPermutationOfDefault(given, natural)) {
    throwUser(ErrorKind::Value,
              {"Sharding",
               "a shard order names each axis that shards a dimension once, under that dimension",
               "got " + textOf(order) + " for placements " + textOf(placements),
               "leave the order out or list every sharding axis"});
  }
  sortByDim(given);
  sortByDim(natural);
  if (given == natural) {
    return;
  }
  auto strided = std::find_if(placements.begin(), placements.end(), [](const Placement& placement) {
    return placement.isStridedShard();
  });
  if (strided != placements.end()) {
    throwUser(ErrorKind::Value,
              {"Sharding", "strided placements already say in which order axes shard",
               "got shard order " + textOf(order) + " for placements " + textOf(placements),
               "give Shard placements with the order, or strided placements alone"});
  }
  for (const ShardOrderEntry& entry : given) {
    applyOrder(mesh, entry, placements);
  }
}

}  // namespace

std::string_view nameOf(MeshDevice device) noexcept {
  return kDeviceNames[static_cast<size_t>(device)];
}

std::optional<MeshDevice> meshDeviceFromName(std::string_view name) noexcept {
  for (size_t i = 0; i < std::size(kDeviceNames); ++i) {
    if (kDeviceNames[i] == name) {
      return static_cast<MeshDevice>(i);
    }
  }
  return std::nullopt;
}

uint64_t Sharding::hash() const noexcept {
  uint64_t seed = hashMix(mesh.hash(), static_cast<uint64_t>(device));
  for (const Placement& placement : placements) {
    seed = hashMix(seed, static_cast<uint64_t>(placement.kind));
    seed = hashMix(seed, static_cast<uint64_t>(placement.reduce));
    seed = hashMix(seed, static_cast<uint64_t>(placement.dim));
    seed = hashMix(seed, static_cast<uint64_t>(placement.splitFactor));
  }
  return seed;
}

std::string Sharding::toText() const {
  return mesh.toText().append(" ").append(nameOf(device)).append(" ") + textOf(placements);
}

int64_t Sharding::axisShardedOn(ParallelType type) const noexcept {
  int64_t axis = mesh.axisOf(type);
  if (axis < 0 || axis >= static_cast<int64_t>(placements.size())) {
    return -1;
  }
  const Placement& placement = placements[static_cast<size_t>(axis)];
  return placement.isSharded() ? placement.dim : -1;
}

bool Sharding::isReplicated() const noexcept {
  return std::all_of(placements.begin(), placements.end(),
                     [](const Placement& placement) { return placement.isReplicate(); });
}

bool Sharding::hasPartial() const noexcept {
  return std::any_of(placements.begin(), placements.end(),
                     [](const Placement& placement) { return placement.isPartial(); });
}

Sharding makeSharding(DeviceMesh mesh, MeshDevice device, std::vector<Placement> placements,
                      std::span<const ShardOrderEntry> shardOrder) {
  if (mesh.ndim() == 0) {
    throwUser(ErrorKind::Value, {"Sharding", "a sharding needs a mesh with ranks",
                                 "got an empty mesh", "make the mesh from a shape or from ranks"});
  }
  if (static_cast<int64_t>(placements.size()) != mesh.ndim()) {
    throwUser(ErrorKind::Value, {"Sharding", "a sharding has one placement for each mesh axis",
                                 "got " + textOf(placements) + " for the " +
                                     std::to_string(mesh.ndim()) + " axes of " + mesh.toText(),
                                 "give Replicate for the axes that do not matter"});
  }
  for (Placement& placement : placements) {
    placement = normalized(placement);
  }
  if (!shardOrder.empty()) {
    applyShardOrder(mesh, shardOrder, placements);
  }
  return Sharding{std::move(mesh), device, std::move(placements)};
}

}  // namespace meshfuse
