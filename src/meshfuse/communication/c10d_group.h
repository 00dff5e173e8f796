// A process group of torch's, as meshfuse uses it. c10d's own header costs 18 seconds of compiling: only c10d_group.cpp
// includes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "meshfuse/communication/group_store.h"
#include "meshfuse/mesh/placement.h"

namespace c10d {
class ProcessGroup;
}

namespace meshfuse {

/// A group kept alive for the length of one call. The collectives block until the result can be used (on CUDA: by later
/// work of the current stream), give the deadline to the operation itself, and throw what c10d throws. Tensors are flat
/// and contiguous, and no Python object knows them: the backend's threads drop them at a time of their own, which takes the
/// interpreter's lock for a tensor that Python knows and ends the process when the interpreter has gone.
class LiveGroup {
 public:
  explicit LiveGroup(c10::intrusive_ptr<c10d::ProcessGroup> group);
  LiveGroup(LiveGroup&& other) noexcept;
  ~LiveGroup();

  int64_t size() const;
  int64_t rank() const;
  bool hasBackend(at::DeviceType device) const;
  /// `gloo`, `nccl`, `fake`, …; throws UserError(Value) when the group has none for such tensors.
  std::string backend(at::DeviceType device) const;
  /// torch's fake group: one process that plays one rank of many; nothing is exchanged.
  bool isFake() const;
  /// The group's own timeout for such tensors.
  std::chrono::milliseconds timeout(at::DeviceType device) const;
  /// The same for the first device type that the group has a backend for.
  std::chrono::milliseconds timeout() const;
  std::shared_ptr<GroupStore> openStore() const;

  void allReduce(const at::Tensor& inOut, ReduceKind kind,
                 std::chrono::milliseconds deadline) const;
  /// `out` has size() times the elements of `in`.
  void allGather(const at::Tensor& out, const at::Tensor& in,
                 std::chrono::milliseconds deadline) const;
  /// Rank r's part of `in` becomes this rank's part of rank r's `out`; both have size() equal parts.
  void allToAll(const at::Tensor& out, const at::Tensor& in,
                std::chrono::milliseconds deadline) const;
  /// `in` has size() times the elements of `out`.
  void reduceScatter(const at::Tensor& out, const at::Tensor& in, ReduceKind kind,
                     std::chrono::milliseconds deadline) const;

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
};

/// The first sentence of a backend's error, without the source location before it.
std::string shortText(const std::string& backendError);

/// Refers to one group object. By name it keeps nothing alive and follows torch's registry; held, it keeps the object.
class GroupRef {
 public:
  /// Throws UserError(Runtime) when no group has the name.
  static GroupRef byName(const std::string& name);
  static GroupRef holding(const c10::intrusive_ptr<c10d::ProcessGroup>& group);
  GroupRef(GroupRef&& other) noexcept;
  GroupRef& operator=(GroupRef&& other) noexcept;
  ~GroupRef();

  const std::string& name() const noexcept { return name_; }
  bool sameObject(const GroupRef& other) const noexcept;
  bool isHeld() const noexcept;
  /// Whether the object is still there: held, or the one that torch has under the name.
  bool isAlive() const;
  /// Throws UserError(Runtime) with the text for a destroyed group.
  LiveGroup lock() const;
  /// Stop keeping the object alive. A ref made by name still finds it.
  void release() noexcept;

 private:
  struct Target;
  GroupRef(std::string name, std::unique_ptr<Target> target);
  std::string name_;
  std::unique_ptr<Target> target_;
};

}  // namespace meshfuse
