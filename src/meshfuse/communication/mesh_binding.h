// A DeviceMesh together with the process groups that run its collectives, one a mesh axis.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <c10/util/intrusive_ptr.h>

#include "meshfuse/mesh/device_mesh.h"
#include "meshfuse/mesh/placement.h"

namespace c10d {
class ProcessGroup;
}

namespace meshfuse {

class GroupState;

enum class CollectiveKind : uint8_t { AllReduce, AllGather, ReduceScatter };

std::string_view nameOf(CollectiveKind kind) noexcept;  // "all_reduce", …

/// What ran over one mesh axis since the log was reset: all collectives of one kind (and reduction) together.
struct CollectiveRecord {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ReduceKind reduce = ReduceKind::Sum;  // no meaning for AllGather
  int64_t meshAxis = 0;
  int64_t count = 0;
  /// Sum over the calls of the axis-wide tensor's bytes on one rank: the input of an all-reduce or
  /// reduce-scatter, the result of an all-gather.
  int64_t bytes = 0;

  bool operator==(const CollectiveRecord&) const = default;
};

/// Groups are torch's: a binding never makes one. Two meshes that compare equal but run on different groups have
/// different bindings. Safe to use from several threads; immutable but for the deadline and the log.
class MeshBinding {
 public:
  /// Bind to groups that torch registered under names (`ProcessGroup.group_name`, a DeviceMesh's group of each axis).
  /// `rank` is this process's global rank. The binding keeps no group alive: it finds the group by its name at every use.
  /// Equal mesh, names and groups give the same binding while one is alive. An axis of size 1 may have an empty name.
  /// Throws UserError(Value) when the process is not in the mesh or a group's size is not its axis's, UserError(Runtime)
  /// when no group has the name.
  static std::shared_ptr<MeshBinding> fromGroupNames(DeviceMesh mesh,
                                                     std::vector<std::string> groupNames,
                                                     int64_t rank);
  /// Bind to group objects, which the binding keeps alive until it goes or releaseGroups() is called. An axis of size 1
  /// may have a null group.
  static std::shared_ptr<MeshBinding> fromGroups(
      DeviceMesh mesh, const std::vector<c10::intrusive_ptr<c10d::ProcessGroup>>& groups,
      int64_t rank);

  ~MeshBinding();
  MeshBinding(const MeshBinding&) = delete;
  MeshBinding& operator=(const MeshBinding&) = delete;

  /// Unique in the process, never zero, never used again.
  uint64_t id() const noexcept { return id_; }
  const DeviceMesh& mesh() const noexcept { return mesh_; }
  /// This process's global rank and where it stands in the mesh.
  int64_t rank() const noexcept { return rank_; }
  const std::vector<int64_t>& coordinate() const noexcept { return coordinate_; }
  /// Empty for an axis of size 1 without a group.
  const std::string& groupName(int64_t axis) const;

  /// The time a collective or an agreement on this mesh may take; nullopt goes back to the default (see deadline.h).
  void setDeadline(std::optional<std::chrono::milliseconds> deadline);
  std::optional<std::chrono::milliseconds> deadline() const;

  /// What ran over this binding since it was made or reset, in order of first use.
  std::vector<CollectiveRecord> records() const;
  void resetRecords();

  /// For communication/ only: the state of an axis's group (null for an axis of size 1 without one), the ranks of this
  /// process's line along the axis, and adding to the log.
  const std::shared_ptr<GroupState>& group(int64_t axis) const { return groups_[axis]; }
  const std::vector<int64_t>& ranksAlong(int64_t axis) const { return ranksAlong_[axis]; }
  void record(CollectiveKind kind, ReduceKind reduce, int64_t meshAxis, int64_t bytes);

 private:
  struct Shared;
  MeshBinding(DeviceMesh mesh, int64_t rank, std::vector<std::shared_ptr<GroupState>> groups);
  static std::shared_ptr<MeshBinding> make(DeviceMesh mesh, int64_t rank,
                                           std::vector<std::shared_ptr<GroupState>> groups);

  DeviceMesh mesh_;
  int64_t rank_;
  std::vector<int64_t> coordinate_;
  std::vector<std::shared_ptr<GroupState>> groups_;
  std::vector<std::vector<int64_t>> ranksAlong_;
  uint64_t id_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace meshfuse
