// A sharding: a mesh, a device type and one placement per mesh axis. Interned: a ShardingId stands for one for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/mesh/device_mesh.h"
#include "meshfuse/mesh/placement.h"

namespace meshfuse {

/// The device types a mesh can be made of, as torch names them.
enum class MeshDevice : uint8_t { Cpu, Cuda, Meta };

std::string_view nameOf(MeshDevice device) noexcept;

/// One entry of torch's shard order: the mesh axes that shard `tensorDim`, first applied first.
struct ShardOrderEntry {
  int64_t tensorDim = 0;
  std::vector<int64_t> meshAxes;
  bool operator==(const ShardOrderEntry&) const = default;
};

/// Immutable once interned. Placements are applied in mesh-axis order (outermost axis first); any other order is expressed
/// by StridedShard placements, as torch does. Axis names, process groups and tensor sizes are not part of it.
struct Sharding {
  DeviceMesh mesh;
  MeshDevice device = MeshDevice::Cpu;
  std::vector<Placement> placements;

  bool operator==(const Sharding&) const = default;
  uint64_t hash() const noexcept;
  /// `DeviceMesh{0 1} cpu (S(0), R)`
  std::string toText() const;

  /// The tensor dimension that the axis of `type` shards; -1 if that axis does not shard or the mesh lacks it.
  int64_t axisShardedOn(ParallelType type) const noexcept;
  bool isReplicated() const noexcept;
  bool hasPartial() const noexcept;
};

/// Checks a sharding before it is interned and brings it into normal form: one placement per mesh axis (UserError(Value)
/// otherwise), non-negative dims and split factors, shard order expressed by StridedShard or refused.
Sharding makeSharding(DeviceMesh mesh, MeshDevice device, std::vector<Placement> placements,
                      std::span<const ShardOrderEntry> shardOrder = {});

/// Handle to an interned sharding; 0 is "none" (a plain tensor). Equal content, equal id, in one process.
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
  const Sharding& operator*() const;
  const Sharding* operator->() const { return &**this; }

 private:
  uint32_t value_ = 0;
};

/// Intern a (normalized) sharding. Thread-safe.
ShardingId intern(const Sharding& sharding);

/// Number of shardings interned so far (for tests and statistics).
size_t internedShardingCount() noexcept;

}  // namespace meshfuse

template <>
struct std::hash<meshfuse::ShardingId> {
  size_t operator()(meshfuse::ShardingId id) const noexcept { return id.value(); }
};
