#include "meshfuse/frontend/python/dtensor_bridge.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/communication/c10d_collectives.h"
#include "meshfuse/values/torch_types.h"

namespace nb = nanobind;

namespace meshfuse {

namespace {

constexpr size_t kMaxMeshes = 64;

/// torch's classes and names, looked up when the first DTensor is seen. Never freed: classes live as long as the interpreter.
struct TorchNames {
  PyTypeObject* dtensor = nullptr;
  Py_ssize_t localOffset = 0;
  Py_ssize_t specOffset = 0;
  PyObject* newDtensor = nullptr;
  PyObject* newKeywords = nullptr;
  std::vector<PyTypeObject*> placementClasses;  // by PlacementKind
  std::array<PyObject*, 4> specFields{};  // mesh, placements, tensor_meta, shard_order: the order a spec is made in
  PyObject* dim = nullptr;
  PyObject* splitFactor = nullptr;
  PyObject* reduceOp = nullptr;
};

struct BridgeState {
  bool loaded = false;
  TorchNames names;
  /// Most recently used first.
  std::vector<std::shared_ptr<MeshRecord>> meshes;
};

/// Only ever used under the interpreter lock.
BridgeState& state() {
  static BridgeState* instance = new BridgeState();
  return *instance;
}

nb::module_ bridgeModule() { return nb::module_::import_("meshfuse._dtensor"); }

Py_ssize_t offsetOfSlot(nb::handle type, const char* name) {
  nb::object descriptor = nb::getattr(type, name);
  internalCheck(Py_IS_TYPE(descriptor.ptr(), &PyMemberDescr_Type), "DTensor keeps its parts in slots");
  return reinterpret_cast<PyMemberDescrObject*>(descriptor.ptr())->d_member->offset;
}

void load(nb::handle dtensorClass) {
  TorchNames names;
  nb::module_ module = bridgeModule();
  names.dtensor = reinterpret_cast<PyTypeObject*>(nb::object(nb::borrow(dtensorClass)).release().ptr());
  names.localOffset = offsetOfSlot(dtensorClass, "_local_tensor");
  names.specOffset = offsetOfSlot(dtensorClass, "_spec");
  names.newDtensor = nb::getattr(nb::handle(THPVariableClass), "_dtensor__new__").release().ptr();
  names.newKeywords = nb::make_tuple("requires_grad").release().ptr();
  for (nb::handle cls : module.attr("placement_classes")) {
    names.placementClasses.push_back(reinterpret_cast<PyTypeObject*>(nb::borrow(cls).release().ptr()));
  }
  names.specFields = {PyUnicode_InternFromString("mesh"), PyUnicode_InternFromString("placements"),
                      PyUnicode_InternFromString("tensor_meta"), PyUnicode_InternFromString("shard_order")};
  names.dim = PyUnicode_InternFromString("dim");
  names.splitFactor = PyUnicode_InternFromString("split_factor");
  names.reduceOp = PyUnicode_InternFromString("reduce_op");
  module.attr("install_release_hooks")();
  state().names = std::move(names);
  state().loaded = true;
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

std::string argument(size_t position) { return "argument " + std::to_string(position); }

std::string reprOf(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

PyObject*& slotOf(PyObject* object, Py_ssize_t offset) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset);
}

int64_t intOf(nb::handle object, PyObject* name) {
  return nb::cast<int64_t>(nb::steal(PyObject_GetAttr(object.ptr(), name)));
}

Placement readPlacement(nb::handle object, size_t position) {
  const TorchNames& names = state().names;
  const auto cls = std::find(names.placementClasses.begin(), names.placementClasses.end(), Py_TYPE(object.ptr()));
  switch (static_cast<PlacementKind>(cls - names.placementClasses.begin())) {
    case PlacementKind::Replicate:
      return Placement::replicate();
    case PlacementKind::Shard:
      return Placement::shard(intOf(object, names.dim));
    case PlacementKind::StridedShard:
      return Placement::stridedShard(intOf(object, names.dim), intOf(object, names.splitFactor));
    case PlacementKind::Partial: {
      const std::string name = nb::cast<std::string>(nb::steal(PyObject_GetAttr(object.ptr(), names.reduceOp)));
      if (const std::optional<ReduceKind> reduce = reduceKindFromName(name)) {
        return Placement::partial(*reduce);
      }
      throwUser(ErrorKind::Runtime, {"execute", "partial values combine by sum, avg, max, min or product",
                                     argument(position) + " has placement Partial('" + name + "')",
                                     "redistribute it to Replicate() or Shard(dim) first"});
    }
  }
  throwUser(ErrorKind::Type, {"execute", "placements must be Replicate, Shard, _StridedShard or Partial",
                              argument(position) + " has placement " + reprOf(object) + " of class " +
                                  nb::cast<std::string>(nb::str(nb::getattr(
                                      nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))), "__qualname__"))),
                              "redistribute it to one of those first"});
}

std::vector<ShardOrderEntry> readShardOrder(nb::handle order) {
  std::vector<ShardOrderEntry> entries;
  if (order.is_none()) {
    return entries;
  }
  for (nb::handle item : order) {
    auto [dim, axes] = nb::cast<std::tuple<int64_t, std::vector<int64_t>>>(item);
    entries.push_back({dim, std::move(axes)});
  }
  return entries;
}

MeshDevice meshDeviceFromName(std::string_view name, nb::handle mesh) {
  for (MeshDevice device : {MeshDevice::Cpu, MeshDevice::Cuda, MeshDevice::Meta}) {
    if (nameOf(device) == name) {
      return device;
    }
  }
  throwUser(ErrorKind::Runtime, {"execute", "a mesh must be of cpu or cuda devices", "got " + reprOf(mesh),
                                 "make the mesh with device type cpu or cuda"});
}

std::shared_ptr<MeshRecord> makeRecord(PyObject* mesh) {
  nb::object description = bridgeModule().attr("describe_mesh")(nb::handle(mesh));
  DeviceMesh ranks = DeviceMesh::fromRanks(nb::cast<std::vector<int64_t>>(description.attr("ranks")),
                                           nb::cast<std::vector<int64_t>>(description.attr("shape")));
  const auto device = meshDeviceFromName(nb::cast<std::string>(description.attr("device_type")), mesh);
  auto names = nb::cast<std::vector<std::string>>(description.attr("group_names"));
  const auto rank = nb::cast<int64_t>(description.attr("rank"));
  std::shared_ptr<MeshBinding> binding = MeshBinding::fromGroupNames(std::move(ranks), std::move(names), rank);
  const char* check = std::getenv("MESHFUSE_CHECK_RANKS");
  return std::make_shared<MeshRecord>(mesh, std::move(binding), device,
                                      check != nullptr && std::string_view(check) == "always");
}

MeshRecord& recordOf(PyObject* mesh) {
  std::vector<std::shared_ptr<MeshRecord>>& meshes = state().meshes;
  if (!meshes.empty() && meshes.front()->mesh() == mesh) [[likely]] {
    return *meshes.front();
  }
  auto found = std::find_if(meshes.begin(), meshes.end(), [mesh](const auto& record) { return record->mesh() == mesh; });
  if (found == meshes.end()) {
    std::shared_ptr<MeshRecord> record = makeRecord(mesh);
    if (meshes.size() >= kMaxMeshes) {
      // Dropped outside the list: it may run Python code.
      const std::shared_ptr<MeshRecord> oldest = std::move(meshes.back());
      meshes.pop_back();
    }
    found = meshes.insert(meshes.end(), std::move(record));
  }
  std::rotate(meshes.begin(), found, found + 1);
  return *meshes.front();
}

/// Mesh, placements, tensor_meta and shard_order of a spec; None for those that this torch does not have.
std::array<nb::object, 4> fieldsOf(PyObject* spec) {
  const TorchNames& names = state().names;
  const nb::object dict = nb::steal(PyObject_GenericGetDict(spec, nullptr));
  if (!dict.is_valid()) {
    throw nb::python_error();
  }
  std::array<nb::object, 4> fields;
  Py_ssize_t cursor = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    // Walking the dictionary costs a third of looking names up; a spec that was made otherwise is looked up.
    if (PyDict_Next(dict.ptr(), &cursor, &name, &value) != 0 && name == names.specFields[i]) [[likely]] {
      fields[i] = nb::borrow(value);
    } else {
      fields[i] = nb::getattr(nb::handle(spec), nb::handle(names.specFields[i]), nb::none());
    }
  }
  return fields;
}

}  // namespace

MeshRecord::MeshRecord(PyObject* mesh, std::shared_ptr<MeshBinding> binding, MeshDevice device, bool agreeAlways)
    : mesh_(mesh),
      binding_(std::move(binding)),
      device_(device),
      collectives_(makeCollectives(binding_)),
      linearRank_(binding_->mesh().linearIndexOf(binding_->rank())),
      agreeAlways_(agreeAlways) {
  Py_INCREF(mesh_);
}

MeshRecord::~MeshRecord() {
  clearSpecs();
  clearOutputSpecs();
  Py_DECREF(mesh_);
}

void MeshRecord::clearSpecs() {
  const std::vector<std::unique_ptr<SpecRecord>> dropped = std::move(specs_);
  specs_.clear();
  for (const std::unique_ptr<SpecRecord>& record : dropped) {
    Py_DECREF(record->placements);
    Py_DECREF(record->tensorMeta);
    Py_DECREF(record->shardOrder);
  }
}

void MeshRecord::clearOutputSpecs() {
  const auto dropped = std::move(outputSpecs_);
  outputSpecs_.clear();
  for (const auto& [id, specs] : dropped) {
    for (PyObject* spec : specs) {
      Py_DECREF(spec);
    }
  }
}

const SpecRecord& MeshRecord::specOf(PyObject* placements, PyObject* tensorMeta, PyObject* shardOrder,
                                     size_t position) {
  for (size_t i = 0, at = nextSpec_; i < specs_.size(); ++i, ++at) {
    at = at < specs_.size() ? at : 0;
    const SpecRecord& record = *specs_[at];
    if (record.placements == placements && record.tensorMeta == tensorMeta && record.shardOrder == shardOrder) {
      nextSpec_ = at + 1;
      return record;
    }
  }
  auto record = std::make_unique<SpecRecord>(readSpec(placements, tensorMeta, shardOrder, position));
  if (specs_.size() >= kMaxSpecs) {
    clearSpecs();
  }
  record->placements = nb::borrow(placements).release().ptr();
  record->tensorMeta = nb::borrow(tensorMeta).release().ptr();
  record->shardOrder = nb::borrow(shardOrder).release().ptr();
  specs_.push_back(std::move(record));
  return *specs_.back();
}

SpecRecord MeshRecord::readSpec(PyObject* placements, PyObject* tensorMeta, PyObject* shardOrder,
                                size_t position) const {
  SpecRecord record;
  if (tensorMeta == Py_None) {
    throwUser(ErrorKind::Runtime, {"execute", "a DTensor's spec must say its global sizes",
                                   argument(position) + " has a spec without tensor_meta",
                                   "make it with DTensor.from_local or distribute_tensor"});
  }
  std::vector<Placement> read;
  for (nb::handle placement : nb::handle(placements)) {
    read.push_back(readPlacement(placement, position));
  }
  // Strided placements carry the shard order themselves.
  const bool strided = std::any_of(read.begin(), read.end(), [](const Placement& p) { return p.isStridedShard(); });
  const std::vector<ShardOrderEntry> order = strided ? std::vector<ShardOrderEntry>() : readShardOrder(shardOrder);
  record.sharding = intern(makeSharding(binding_->mesh(), device_, std::move(read), order));
  for (nb::handle size : nb::getattr(nb::handle(tensorMeta), "shape")) {
    record.sizes.push_back(nb::cast<int64_t>(size));
  }
  for (nb::handle stride : nb::getattr(nb::handle(tensorMeta), "stride")) {
    record.strides.push_back(nb::cast<int64_t>(stride));
  }
  return record;
}

const std::vector<PyObject*>& MeshRecord::outputSpecs(const CallResults& results) {
  const auto found = outputSpecs_.find(results.programId);
  if (found != outputSpecs_.end()) [[likely]] {
    return found->second;
  }
  nb::object makeSpec = bridgeModule().attr("make_spec");
  std::vector<nb::object> specs;
  for (const PolymorphicValue& value : results.values) {
    const DistributedTensor& tensor = value.as<DistributedTensor>();
    nb::list placements;
    for (const Placement& placement : tensor.placements()) {
      placements.append(nb::make_tuple(static_cast<int>(placement.kind), placement.dim, placement.splitFactor,
                                       std::string(nameOf(placement.reduce))));
    }
    const c10::DimVector sizes = tensor.sizes();
    const c10::DimVector strides = tensor.strides();
    nb::object local = nb::steal(THPVariable_Wrap(tensor.local()));
    specs.push_back(makeSpec(nb::handle(mesh_), placements, std::vector<int64_t>(sizes.begin(), sizes.end()),
                             std::vector<int64_t>(strides.begin(), strides.end()), local.attr("dtype")));
  }
  if (outputSpecs_.size() >= kMaxPrograms) {
    clearOutputSpecs();
  }
  std::vector<PyObject*>& kept = outputSpecs_[results.programId];
  for (nb::object& spec : specs) {
    kept.push_back(spec.release().ptr());
  }
  return kept;
}

bool isDtensor(PyObject* object) noexcept {
  const BridgeState& bridge = state();
  if (bridge.loaded) [[likely]] {
    return Py_TYPE(object) == bridge.names.dtensor;
  }
  // Plain numbers, lists and tensors never get here; anything else may be the first DTensor.
  if (!PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPVariableClass))) {
    return false;
  }
  try {
    return loadIfImported() && Py_TYPE(object) == bridge.names.dtensor;
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("meshfuse: reading torch's DTensor class");
    return false;
  }
}

DtensorParts readDtensor(PyObject* dtensor, size_t position) {
  const TorchNames& names = state().names;
  PyObject* spec = slotOf(dtensor, names.specOffset);
  PyObject* local = slotOf(dtensor, names.localOffset);
  if (spec == nullptr || local == nullptr) {
    throwUser(ErrorKind::Runtime, {"execute", "a DTensor must have a spec and a local tensor",
                                   argument(position) + " has lost its " + (spec == nullptr ? "spec" : "local tensor"),
                                   "make it with DTensor.from_local or distribute_tensor"});
  }
  const nb::object heldSpec = nb::borrow(spec);
  nb::object heldLocal = nb::borrow(local);
  // Settling runs Python code, which may drop records, so it comes first.
  if (!THPVariable_CheckTypeExact(Py_TYPE(local))) {
    heldLocal = nb::steal(settleTensor(local, position));
  }
  const auto [mesh, placements, tensorMeta, shardOrder] = fieldsOf(spec);
  MeshRecord& record = recordOf(mesh.ptr());
  const SpecRecord& content = record.specOf(placements.ptr(), tensorMeta.ptr(), shardOrder.ptr(), position);
  return {heldLocal.release().ptr(), &record,           content.sharding,
          content.sizes.data(),      content.strides.data(), content.sizes.size()};
}

void checkGlobalRank(const DtensorParts& parts, size_t rank, size_t position) {
  if (parts.rank != rank) {
    throwUser(ErrorKind::Runtime,
              {"execute", "a DTensor and its local tensor must have one rank",
               argument(position) + " has a local tensor of rank " + std::to_string(rank) + " and global sizes " +
                   toText(std::span<const int64_t>(parts.sizes, parts.rank)),
               "make it with DTensor.from_local or distribute_tensor"});
  }
}

void checkSameBinding(const MeshRecord& first, const MeshRecord& other, size_t position) {
  if (first.binding().id() == other.binding().id()) {
    return;
  }
  const std::string firstText = first.binding().mesh().toText();
  const std::string otherText = other.binding().mesh().toText();
  if (firstText != otherText) {
    throwUser(ErrorKind::Runtime, {"execute", "distributed tensors must lie over one mesh",
                                   argument(position) + " is on " + otherText + ", the ones before on " + firstText,
                                   "redistribute them onto one mesh first"});
  }
  throwUser(ErrorKind::Runtime,
            {"execute", "distributed tensors must lie over one mesh",
             argument(position) + " is on " + otherText +
                 ", which is equal to the mesh of the ones before but runs on other process groups",
             "make all DTensors of a call with one DeviceMesh object"});
}

PyObject* settleTensor(PyObject* tensor, size_t position) {
  nb::object settled = bridgeModule().attr("settle")(nb::handle(tensor), position);
  internalCheck(THPVariable_CheckExact(settled.ptr()), "a settled tensor is a torch.Tensor");
  return settled.release().ptr();
}

namespace {

PyObject* wrapDtensor(DistributedTensor&& tensor, PyObject* spec) {
  const TorchNames& names = state().names;
  const nb::object local = nb::steal(THPVariable_Wrap(std::move(tensor).local()));
  PyObject* args[] = {reinterpret_cast<PyObject*>(names.dtensor), local.ptr(), spec, Py_False};
  nb::object dtensor = nb::steal(PyObject_Vectorcall(names.newDtensor, args, 3, names.newKeywords));
  if (!dtensor.is_valid()) {
    throw nb::python_error();
  }
  for (const auto& [offset, value] : {std::pair(names.localOffset, local.ptr()), std::pair(names.specOffset, spec)}) {
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
    PyObject* object = specs == nullptr
                           ? THPVariable_Wrap(std::move(value).takeTensor())
                           : wrapDtensor(std::move(value).as<DistributedTensor>(), (*specs)[position]);
    PyList_SET_ITEM(list.ptr(), position++, object);
  }
  return list.release().ptr();
}

void releaseMeshes() {
  const std::vector<std::shared_ptr<MeshRecord>> dropped = std::move(state().meshes);
  state().meshes.clear();
  // Waits for a thread of its own.
  const nb::gil_scoped_release letOthersRun;
  releaseGroups();
}

}  // namespace meshfuse
