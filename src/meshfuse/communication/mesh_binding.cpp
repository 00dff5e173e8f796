#include "meshfuse/communication/mesh_binding.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "meshfuse/base/error.h"
#include "meshfuse/communication/deadline.h"
#include "meshfuse/communication/group_state.h"

namespace meshfuse {

std::string_view nameOf(CollectiveKind kind) noexcept {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter"};
  return names[static_cast<int>(kind)];
}

struct MeshBinding::Shared {
  std::mutex mutex;
  std::optional<std::chrono::milliseconds> deadline;
  std::vector<CollectiveRecord> records;
};

namespace {

void checkMesh(const DeviceMesh& mesh, int64_t rank, size_t groups) {
  if (static_cast<int64_t>(groups) != mesh.ndim()) {
    throwUser(ErrorKind::Value, {"mesh binding", "a mesh has one process group an axis",
                                 "got " + std::to_string(groups) + " groups for " + mesh.toText() +
                                     " of " + std::to_string(mesh.ndim()) + " axes",
                                 "pass the group of every axis, in the order of the axes"});
  }
  if (mesh.linearIndexOf(rank) < 0) {
    throwUser(
        ErrorKind::Value,
        {"mesh binding", "a process uses meshes that it is part of",
         "this process is rank " + std::to_string(rank) + ", which is not in " + mesh.toText(),
         "run distributed calls only on the mesh's own ranks, or make a mesh with this rank"});
  }
}

void checkSize(const DeviceMesh& mesh, int64_t axis, const GroupState& group) {
  if (group.size() != mesh.size(axis)) {
    throwUser(ErrorKind::Value, {"mesh binding", "the group of a mesh axis has the axis's ranks",
                                 "axis " + std::to_string(axis) + " of " + mesh.toText() + " has " +
                                     std::to_string(mesh.size(axis)) + " ranks, process group '" +
                                     group.name() + "' has " + std::to_string(group.size()),
                                 "pass the process group that was made for this axis"});
  }
}

uint64_t nextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

bool sameGroups(const MeshBinding& binding,
                const std::vector<std::shared_ptr<GroupState>>& groups) {
  for (int64_t axis = 0; axis < binding.mesh().ndim(); ++axis) {
    if (binding.group(axis) != groups[axis]) {
      return false;
    }
  }
  return true;
}

}  // namespace

MeshBinding::MeshBinding(DeviceMesh mesh, int64_t rank,
                         std::vector<std::shared_ptr<GroupState>> groups)
    : mesh_(std::move(mesh)),
      rank_(rank),
      coordinate_(*mesh_.coordinateOf(rank)),
      groups_(std::move(groups)),
      id_(nextId()),
      shared_(std::make_unique<Shared>()) {
  for (int64_t axis = 0; axis < mesh_.ndim(); ++axis) {
    ranksAlong_.push_back(mesh_.slice(rank, axis));
  }
}

MeshBinding::~MeshBinding() = default;

std::shared_ptr<MeshBinding> MeshBinding::make(DeviceMesh mesh, int64_t rank,
                                               std::vector<std::shared_ptr<GroupState>> groups) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<MeshBinding>> bindings;
  const std::lock_guard lock(mutex);
  std::erase_if(bindings, [](const auto& binding) { return binding.expired(); });
  for (const std::weak_ptr<MeshBinding>& known : bindings) {
    const std::shared_ptr<MeshBinding> binding = known.lock();
    if (binding && binding->rank_ == rank && binding->mesh_ == mesh &&
        sameGroups(*binding, groups)) {
      return binding;
    }
  }
  std::shared_ptr<MeshBinding> binding(new MeshBinding(std::move(mesh), rank, std::move(groups)));
  bindings.push_back(binding);
  return binding;
}

std::shared_ptr<MeshBinding> MeshBinding::fromGroupNames(DeviceMesh mesh,
                                                         std::vector<std::string> groupNames,
                                                         int64_t rank) {
  checkMesh(mesh, rank, groupNames.size());
  std::vector<std::shared_ptr<GroupState>> groups(groupNames.size());
  for (int64_t axis = 0; axis < mesh.ndim(); ++axis) {
    if (mesh.size(axis) == 1 && groupNames[axis].empty()) {
      continue;
    }
    groups[axis] = GroupState::of(GroupRef::byName(groupNames[axis]));
    checkSize(mesh, axis, *groups[axis]);
  }
  return make(std::move(mesh), rank, std::move(groups));
}

std::shared_ptr<MeshBinding> MeshBinding::fromGroups(
    DeviceMesh mesh, const std::vector<c10::intrusive_ptr<c10d::ProcessGroup>>& groups,
    int64_t rank) {
  checkMesh(mesh, rank, groups.size());
  std::vector<std::shared_ptr<GroupState>> states(groups.size());
  for (int64_t axis = 0; axis < mesh.ndim(); ++axis) {
    if (!groups[axis]) {
      if (mesh.size(axis) == 1) {
        continue;
      }
      throwUser(ErrorKind::Value,
                {"mesh binding", "a mesh axis of more than one rank has a process group",
                 "got a null group for axis " + std::to_string(axis) + " of " + mesh.toText(),
                 "pass the group that connects the axis's ranks"});
    }
    states[axis] = GroupState::of(GroupRef::holding(groups[axis]));
    checkSize(mesh, axis, *states[axis]);
  }
  return make(std::move(mesh), rank, std::move(states));
}

const std::string& MeshBinding::groupName(int64_t axis) const {
  static const std::string none;
  return groups_[axis] ? groups_[axis]->name() : none;
}

void MeshBinding::setDeadline(std::optional<std::chrono::milliseconds> deadline) {
  checkDeadline(deadline);
  const std::lock_guard lock(shared_->mutex);
  shared_->deadline = deadline;
}

std::optional<std::chrono::milliseconds> MeshBinding::deadline() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->deadline;
}

std::vector<CollectiveRecord> MeshBinding::records() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->records;
}

void MeshBinding::resetRecords() {
  const std::lock_guard lock(shared_->mutex);
  shared_->records.clear();
}

void MeshBinding::record(CollectiveKind kind, ReduceKind reduce, int64_t meshAxis, int64_t bytes) {
  const std::lock_guard lock(shared_->mutex);
  const auto known = std::ranges::find_if(shared_->records, [&](const CollectiveRecord& record) {
    return record.kind == kind && record.reduce == reduce && record.meshAxis == meshAxis;
  });
  CollectiveRecord& record =
      known != shared_->records.end()
          ? *known
          : shared_->records.emplace_back(CollectiveRecord{kind, reduce, meshAxis, 0, 0});
  ++record.count;
  record.bytes += bytes;
}

}  // namespace meshfuse
