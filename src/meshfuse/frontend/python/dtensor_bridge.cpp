#include "meshfuse/frontend/python/dtensor_bridge.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/python/torch_objects.h"

namespace nb = nanobind;

namespace meshfuse {

namespace {

/// torch's classes and names, looked up when the first DTensor is seen. Never freed: classes live as long as the interpreter.
struct TorchNames {
  PyTypeObject* dtensor = nullptr;
  Py_ssize_t localOffset = 0;
  Py_ssize_t specOffset = 0;
  PyObject* newDtensor = nullptr;
  PyObject* newKeywords = nullptr;
  /// mesh, placements, tensor_meta, shard_order: the order in which a spec is made.
  std::array<PyObject*, 4> specFields{};
};

/// The names once loaded, else null; only ever used under the interpreter lock.
const TorchNames* loadedNames = nullptr;

const TorchNames& torchNames() { return *loadedNames; }

Py_ssize_t offsetOfSlot(nb::handle type, const char* name) {
  nb::object descriptor = nb::getattr(type, name);
  internalCheck(Py_IS_TYPE(descriptor.ptr(), &PyMemberDescr_Type),
                "DTensor keeps its parts in slots");
  return reinterpret_cast<PyMemberDescrObject*>(descriptor.ptr())->d_member->offset;
}

void load(nb::handle dtensorClass) {
  TorchNames names;
  names.dtensor =
      reinterpret_cast<PyTypeObject*>(nb::object(nb::borrow(dtensorClass)).release().ptr());
  names.localOffset = offsetOfSlot(dtensorClass, "_local_tensor");
  names.specOffset = offsetOfSlot(dtensorClass, "_spec");
  names.newDtensor = nb::getattr(nb::handle(tensorClass()), "_dtensor__new__").release().ptr();
  names.newKeywords = nb::make_tuple("requires_grad").release().ptr();
  names.specFields = {PyUnicode_InternFromString("mesh"), PyUnicode_InternFromString("placements"),
                      PyUnicode_InternFromString("tensor_meta"),
                      PyUnicode_InternFromString("shard_order")};
  bridgeModule().attr("install_release_hooks")();
  loadedNames = new TorchNames(names);
}

/// The DTensor class, if the program has imported it; a program that has not cannot hold one.
bool loadIfImported() {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* module = PyDict_GetItemString(modules, "torch.distributed.tensor");
  if (module == nullptr) {
    return false;
  }
  nb::object cls = nb::getattr(nb::handle(module), "DTensor", nb::none());
  if (cls.is_none()) {
    return false;
  }
  load(cls);
  return true;
}

PyObject*& slotOf(PyObject* object, Py_ssize_t offset) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

/// Mesh, placements, tensor_meta and shard_order of a spec, None for those that this torch does not have. Borrowed from the
/// spec: valid until Python code runs.
std::array<PyObject*, 4> fieldsOf(PyObject* spec) {
  const TorchNames& names = torchNames();
  const nb::object dict = nb::steal(PyObject_GenericGetDict(spec, nullptr));
  if (!dict.is_valid()) {
    throw nb::python_error();
  }
  std::array<PyObject*, 4> fields{};
  Py_ssize_t cursor = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    PyObject* name = nullptr;
    // Walking the dictionary costs a third of looking names up; a spec that was made otherwise is looked up.
    if (PyDict_Next(dict.ptr(), &cursor, &name, &fields[i]) == 0 || name != names.specFields[i])
        [[unlikely]] {
      PyObject* found = PyDict_GetItemWithError(dict.ptr(), names.specFields[i]);
      fields[i] = found == nullptr ? Py_None : found;
    }
  }
  return fields;
}

}  // namespace

bool isDtensor(PyObject* object) noexcept {
  if (loadedNames != nullptr) [[likely]] {
    return Py_TYPE(object) == loadedNames->dtensor;
  }
  // Plain numbers, lists and tensors never get here; anything else may be the first DTensor.
  if (!PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(tensorClass()))) {
    return false;
  }
  try {
    return loadIfImported() && Py_TYPE(object) == loadedNames->dtensor;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("meshfuse: reading torch's DTensor class");
    return false;
  }
}

DtensorParts readDtensor(PyObject* dtensor, size_t position) {
  const TorchNames& names = torchNames();
  PyObject* spec = slotOf(dtensor, names.specOffset);
  PyObject* local = slotOf(dtensor, names.localOffset);
  if (spec == nullptr || local == nullptr) {
    throwUser(ErrorKind::Runtime, {"execute", "a DTensor must have a spec and a local tensor",
                                   argumentName(position) + " has lost its " +
                                       (spec == nullptr ? "spec" : "local tensor"),
                                   "make it with DTensor.from_local or distribute_tensor"});
  }
  nb::object held = nb::borrow(local);
  // Settling runs Python code, which may drop records and change the spec, so it comes first.
  if (!isPlainTensorObject(local)) [[unlikely]] {
    held = nb::steal(settleTensor(local, position));
    spec = slotOf(dtensor, names.specOffset);
    internalCheck(spec != nullptr, "waiting for a local tensor leaves its DTensor whole");
  }
  const auto [mesh, placements, tensorMeta, shardOrder] = fieldsOf(spec);
  MeshRecord* record = findMeshRecord(mesh);
  const SpecRecord* content =
      record == nullptr ? nullptr : record->findSpec(placements, tensorMeta, shardOrder);
  if (content == nullptr) [[unlikely]] {
    const std::array<nb::object, 4> fields{nb::borrow(mesh), nb::borrow(placements),
                                           nb::borrow(tensorMeta), nb::borrow(shardOrder)};
    record = &addMeshRecord(mesh);
    content = &record->addSpec(placements, tensorMeta, shardOrder, position);
  }
  return {held.release().ptr(),    record,
          content->sharding,       content->sizes.data(),
          content->strides.data(), content->sizes.size()};
}

void checkGlobalRank(const DtensorParts& parts, size_t rank, size_t position) {
  if (parts.rank != rank) {
    throwUser(ErrorKind::Runtime,
              {"execute", "a DTensor and its local tensor must have one rank",
               argumentName(position) + " has a local tensor of rank " + std::to_string(rank) +
                   " and global sizes " + toText(std::span<const int64_t>(parts.sizes, parts.rank)),
               "make it with DTensor.from_local or distribute_tensor"});
  }
}

PyObject* settleTensor(PyObject* tensor, size_t position) {
  nb::object settled = bridgeModule().attr("settle")(nb::handle(tensor), position);
  internalCheck(isPlainTensorObject(settled.ptr()), "a settled tensor is a torch.Tensor");
  return settled.release().ptr();
}

namespace {

PyObject* wrapDtensor(DistributedTensor&& tensor, PyObject* spec) {
  const TorchNames& names = torchNames();
  const nb::object local = nb::steal(tensorObject(std::move(tensor).local()));
  PyObject* args[] = {reinterpret_cast<PyObject*>(names.dtensor), local.ptr(), spec, Py_False};
  nb::object dtensor = nb::steal(PyObject_Vectorcall(names.newDtensor, args, 3, names.newKeywords));
  if (!dtensor.is_valid()) {
    throw nb::python_error();
  }
  for (const auto& [offset, value] :
       {std::pair(names.localOffset, local.ptr()), std::pair(names.specOffset, spec)}) {
    PyObject*& slot = slotOf(dtensor.ptr(), offset);
    if (slot == nullptr) {
      Py_INCREF(value);
      slot = value;
    }
  }
  return dtensor.release().ptr();
}

}  // namespace

PyObject* wrapResults(CallResults&& results, MeshRecord* mesh) {
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(results.values.size())));
  const std::vector<PyObject*>* specs = mesh == nullptr ? nullptr : &mesh->outputSpecs(results);
  Py_ssize_t position = 0;
  for (PolymorphicValue& value : results.values) {
    PyObject* object = specs == nullptr ? tensorObject(std::move(value).takeTensor())
                                        : wrapDtensor(std::move(value).as<DistributedTensor>(),
                                                      (*specs)[position]);
    PyList_SET_ITEM(list.ptr(), position++, object);
  }
  return list.release().ptr();
}

}  // namespace meshfuse
