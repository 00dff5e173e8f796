// A sharding: a mesh, a device type and one placement per mesh axis. Interned: a ShardingId stands
// for one for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/mesh/device_mesh.h"
#include "meshfuse/mesh/placement.h"
#include "meshfuse/mesh/sharding_table.h"

namespace meshfuse {

/// The device types a mesh can be made of, as torch names them.
enum class MeshDevice : uint8_t { Cpu, Cuda, Meta };

/// "cpu", "cuda", "meta"
std::string_view nameOf(MeshDevice device) noexcept;
/// The device type that torch calls `name`; nullopt for one a mesh cannot be made of here.
std::optional<MeshDevice> meshDeviceFromName(std::string_view name) noexcept;

/// One entry of torch's shard order: the mesh axes that shard `tensorDim`, first applied first.
struct ShardOrderEntry {
  int64_t tensorDim = 0;
  std::vector<int64_t> meshAxes;
  bool operator==(const ShardOrderEntry&) const = default;
};

/// Immutable once interned. Placements are applied in mesh-axis order (outermost axis first); any
/// other order is expressed by StridedShard placements, as torch does. Axis names, process groups
/// and tensor sizes are not part of it.
struct Sharding {
  DeviceMesh mesh;
  MeshDevice device = MeshDevice::Cpu;
  std::vector<Placement> placements;

  bool operator==(const Sharding&) const = default;
  uint64_t hash() const noexcept;
  /// `DeviceMesh{0 1} cpu (S(0), R)`
  std::string toText() const;

  /// The tensor dimension that the axis of `type` shards; -1 if that axis does not shard or the
  /// mesh lacks it.
  int64_t axisShardedOn(ParallelType type) const noexcept;
  bool isReplicated() const noexcept;
  bool hasPartial() const noexcept;
};

/// Checks a sharding and brings it into the normal form that is interned: one placement per mesh
/// axis, dimensions from 0, split factors from 2 (a factor of 1 is a Shard). `shardOrder` is
/// torch's: empty for mesh-axis order, otherwise it must name every sharding axis once, and an axis
/// that comes after axes inside it becomes a StridedShard by their shards, as torch converts it.
/// Anything else, strided placements with an order of their own included, throws UserError(Value).
Sharding makeSharding(DeviceMesh mesh, MeshDevice device, std::vector<Placement> placements,
                      std::span<const ShardOrderEntry> shardOrder = {});

/// Handle to an interned sharding; 0 is "none" (a plain tensor). Equal content, equal id, in one
/// process.
class ShardingId {
 public:
  constexpr ShardingId() noexcept = default;
  static constexpr ShardingId fromValue(uint32_t value) noexcept {
    ShardingId id;
    id.value_ = value;
    return id;
  }
  constexpr uint32_t value() const noexcept { return value_; }
  constexpr explicit operator bool() const noexcept { return value_ != 0; }
  constexpr bool operator==(const ShardingId&) const = default;

  /// The interned sharding; needs no lock. Calling it on "none" is an internal error.
  const Sharding& operator*() const {
    const Sharding* sharding = sharding_table::find(value_);
    if (sharding == nullptr) [[unlikely]] {
      sharding_table::failUnknown(value_);
    }
    return *sharding;
  }
  const Sharding* operator->() const { return &**this; }

 private:
  uint32_t value_ = 0;
};

/// Intern a sharding made by `makeSharding`. Thread-safe. What is interned stays until the process
/// ends.
ShardingId intern(const Sharding& sharding);

/// Number of shardings interned so far (for tests and statistics).
size_t internedShardingCount() noexcept;

}  // namespace meshfuse

template <>
struct std::hash<meshfuse::ShardingId> {
  size_t operator()(meshfuse::ShardingId id) const noexcept { return id.value(); }
};
