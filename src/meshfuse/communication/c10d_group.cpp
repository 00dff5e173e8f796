#include "meshfuse/communication/c10d_group.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using GroupPointer = c10::intrusive_ptr<c10d::ProcessGroup>;

c10d::ReduceOp reduceOp(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
      return c10d::ReduceOp::SUM;
    case ReduceKind::Avg:
      return c10d::ReduceOp::AVG;
    case ReduceKind::Max:
      return c10d::ReduceOp::MAX;
    case ReduceKind::Min:
      return c10d::ReduceOp::MIN;
    case ReduceKind::Product:
      return c10d::ReduceOp::PRODUCT;
  }
  throwInternal("a reduce kind is one of five");
}

// Null when torch has no group under the name.
GroupPointer registered(const std::string& name) {
  try {
    return c10d::resolve_process_group(name);
  } catch (const c10::Error&) {
    return {};
  }
}

// Never with a timeout here: waiting for less than the operation leaves it in flight, and a late rank's next collective
// then matches it and gives wrong numbers.
void finish(const c10::intrusive_ptr<c10d::Work>& work) {
  if (work) {
    work->wait();
  }
}

c10::intrusive_ptr<c10d::Backend> backendFor(c10d::ProcessGroup& group, at::DeviceType device) {
  try {
    return group.getBackend(device);
  } catch (const c10::Error& error) {
    throwUser(ErrorKind::Value,
              {"process group '" + group.getGroupName() + "'",
               "a collective needs a backend for its tensors' device",
               "it has none for " + c10::DeviceTypeName(device, true) + " (" +
                   error.what_without_backtrace() + ")",
               "make the group with a backend for that device, or move the tensors"});
  }
}

}  // namespace

LiveGroup::LiveGroup(GroupPointer group) : group_(std::move(group)) {}
LiveGroup::LiveGroup(LiveGroup&& other) noexcept = default;
LiveGroup::~LiveGroup() = default;

int64_t LiveGroup::size() const { return group_->getSize(); }
int64_t LiveGroup::rank() const { return group_->getRank(); }

bool LiveGroup::hasBackend(at::DeviceType device) const {
  return std::ranges::any_of(group_->getDeviceTypes(),
                             [&](at::Device known) { return known.type() == device; });
}

std::string LiveGroup::backend(at::DeviceType device) const {
  return backendFor(*group_, device)->getBackendName();
}

bool LiveGroup::isFake() const {
  for (const at::Device device : group_->getDeviceTypes()) {
    if (backend(device.type()) == "fake") {
      return true;
    }
  }
  return false;
}

std::chrono::milliseconds LiveGroup::timeout(at::DeviceType device) const {
  // A backend without options throws or gives none.
  try {
    const auto options = backendFor(*group_, device)->getBackendOptions();
    return options ? options->timeout : kProcessGroupDefaultTimeout;
  } catch (const c10::Error&) {
    return kProcessGroupDefaultTimeout;
  }
}

std::chrono::milliseconds LiveGroup::timeout() const {
  const std::vector<at::Device> devices = group_->getDeviceTypes();
  return devices.empty() ? kProcessGroupDefaultTimeout : timeout(devices.front().type());
}

std::shared_ptr<GroupStore> LiveGroup::openStore() const {
  return std::make_shared<GroupStore>(group_->getStore());
}

void LiveGroup::allReduce(const at::Tensor& inOut, ReduceKind kind,
                          std::chrono::milliseconds deadline) const {
  c10d::AllreduceOptions options;
  options.reduceOp = reduceOp(kind);
  options.timeout = deadline;
  std::vector<at::Tensor> tensors{inOut};
  finish(group_->allreduce(tensors, options));
}

// ProcessGroup's methods for flat tensors have other names in other versions of torch; the dispatcher's stay.
void LiveGroup::allGather(const at::Tensor& out, const at::Tensor& in,
                          std::chrono::milliseconds deadline) const {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("c10d::_allgather_base_", "")
                             .typed<std::tuple<at::Tensor, c10::intrusive_ptr<c10d::Work>>(
                                 at::Tensor&, at::Tensor&, const GroupPointer&, bool, int64_t)>();
  at::Tensor output = out;
  at::Tensor input = in;
  finish(std::get<1>(op.call(output, input, group_, true, deadline.count())));
}

void LiveGroup::allToAll(const at::Tensor& out, const at::Tensor& in,
                         std::chrono::milliseconds deadline) const {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("c10d::alltoall_base_", "")
                             .typed<c10::intrusive_ptr<c10d::Work>(
                                 at::Tensor&, at::Tensor&, const GroupPointer&,
                                 std::vector<int64_t>, std::vector<int64_t>, bool, int64_t)>();
  at::Tensor output = out;
  at::Tensor input = in;
  finish(op.call(output, input, group_, {}, {}, true, deadline.count()));
}

void LiveGroup::reduceScatter(const at::Tensor& out, const at::Tensor& in, ReduceKind kind,
                              std::chrono::milliseconds deadline) const {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("c10d::_reduce_scatter_base_", "")
                             .typed<std::tuple<at::Tensor, c10::intrusive_ptr<c10d::Work>>(
                                 at::Tensor&, at::Tensor&, const GroupPointer&,
                                 const c10::intrusive_ptr<c10d::ReduceOp>&, bool, int64_t)>();
  at::Tensor output = out;
  at::Tensor input = in;
  finish(std::get<1>(op.call(output, input, group_,
                             c10::make_intrusive<c10d::ReduceOp>(reduceOp(kind)), true,
                             deadline.count())));
}

std::string shortText(const std::string& backendError) {
  size_t begin = backendError.starts_with("[/") ? backendError.find("] ") : std::string::npos;
  begin = begin == std::string::npos ? 0 : begin + 2;
  const size_t end = std::min(backendError.find(". ", begin), backendError.find('\n', begin));
  return backendError.substr(begin, end == std::string::npos ? end : end - begin);
}

struct GroupRef::Target {
  GroupPointer held;
  c10::weak_intrusive_ptr<c10d::ProcessGroup> object;
  bool named = false;
};

GroupRef::GroupRef(std::string name, std::unique_ptr<Target> target)
    : name_(std::move(name)), target_(std::move(target)) {}
GroupRef::GroupRef(GroupRef&& other) noexcept = default;
GroupRef& GroupRef::operator=(GroupRef&& other) noexcept = default;
GroupRef::~GroupRef() = default;

GroupRef GroupRef::byName(const std::string& name) {
  const GroupPointer group = registered(name);
  if (!group) {
    throwUser(ErrorKind::Runtime,
              {"process group '" + name + "'", "a mesh runs on groups that torch knows by name",
               "torch has no group of that name; it was destroyed or never made",
               "make the process group (and the mesh) again before using the mesh"});
  }
  auto target = std::make_unique<Target>(
      Target{{}, c10::weak_intrusive_ptr<c10d::ProcessGroup>(group), true});
  return {name, std::move(target)};
}

GroupRef GroupRef::holding(const GroupPointer& group) {
  std::string name = group->getGroupName();
  auto target = std::make_unique<Target>(
      Target{group, c10::weak_intrusive_ptr<c10d::ProcessGroup>(group), false});
  return {std::move(name), std::move(target)};
}

bool GroupRef::sameObject(const GroupRef& other) const noexcept {
  return target_->object == other.target_->object;
}

bool GroupRef::isHeld() const noexcept { return target_->held.defined(); }

bool GroupRef::isAlive() const {
  if (target_->held) {
    return true;
  }
  if (!target_->named) {
    return false;
  }
  const GroupPointer group = target_->object.lock();
  return group && registered(name_) == group;
}

LiveGroup GroupRef::lock() const {
  if (target_->held) {
    return LiveGroup(target_->held);
  }
  GroupPointer group = target_->named ? target_->object.lock() : GroupPointer();
  if (!group || registered(name_) != group) {
    throwUser(
        ErrorKind::Runtime,
        {"process group '" + name_ + "'", "a mesh is used while its process groups exist",
         "the group was destroyed or released after the mesh was bound to it",
         "make the process group and the mesh again, and distribute the tensors on that mesh"});
  }
  return LiveGroup(std::move(group));
}

void GroupRef::release() noexcept { target_->held.reset(); }

}  // namespace meshfuse
