// From the Python objects of a call to the views that the runtime takes.
#pragma once

#include <memory>
#include <span>

#include <Python.h>
#include <c10/util/SmallVector.h>

#include "meshfuse/frontend/python/dtensor_bridge.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/call_context.h"

namespace meshfuse {

/// The arguments of one `execute`. Holds a Python reference to each, so that they outlive a call that lets other threads run;
/// tensors that had to be settled first (lazy views, pending collectives) are kept here as well. Needs the interpreter lock.
class CallArguments {
 public:
  CallArguments() = default;
  ~CallArguments();
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;

  /// Takes the elements of `inputs`, an iterable; lists and tuples among them are flattened one level. Throws UserError for an
  /// object that is no tensor and no number, and for tensors that the runtime must not read as they are.
  void collect(PyObject* inputs);

  std::span<const ArgView> views() const noexcept { return {views_.data(), views_.size()}; }
  /// The DTensor that the distributed argument at `position` was, borrowed.
  PyObject* dtensorAt(size_t position) const noexcept;
  /// The mesh of the distributed tensors; null without any.
  const std::shared_ptr<MeshRecord>& mesh() const noexcept { return mesh_; }
  /// What a call with them brings besides: its mesh, and hooks that let other Python threads run.
  CallContext context() const;

 private:
  void addItems(PyObject* sequence, bool nested);
  void add(PyObject* object, bool nested);
  void addOther(PyObject* object, bool nested);
  void addInteger(PyObject* object);
  void addNumber(const Scalar& number);
  void addTensor(const at::Tensor& tensor);
  void addLazy(const at::Tensor& tensor);
  void addDtensor(PyObject* dtensor);
  void addSubclass(PyObject* tensor);
  void linkGlobals();
  /// A reference that lasts as long as this object; `object` is stolen.
  PyObject* keep(PyObject* object);

  c10::SmallVector<ArgView, 32> views_;
  c10::SmallVector<PyObject*, 48> kept_;  // DTensors in the order of their views
  c10::SmallVector<at::Tensor, 1> settled_;
  /// Global sizes and strides of distributed arguments, one after the other; views point here once all are collected.
  c10::SmallVector<int64_t, 64> globals_;
  std::shared_ptr<MeshRecord> mesh_;
};

/// Whether a dispatch mode or transform is active on this thread that expects to see every operation.
bool dispatchModeIsActive() noexcept;

}  // namespace meshfuse
