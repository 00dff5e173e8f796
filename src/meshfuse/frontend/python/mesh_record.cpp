#include "meshfuse/frontend/python/mesh_record.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/base/error.h"
#include "meshfuse/communication/c10d_collectives.h"
#include "meshfuse/frontend/python/torch_objects.h"

namespace nb = nanobind;

namespace meshfuse {

nb::module_ bridgeModule() { return nb::module_::import_("meshfuse._dtensor"); }

std::string argumentName(size_t position) { return "argument " + std::to_string(position); }

namespace {

constexpr size_t kMaxMeshes = 64;

/// torch's placement classes, by PlacementKind, and their attributes. Never freed: classes live as long as the interpreter.
struct PlacementNames {
  std::vector<PyTypeObject*> classes;
  PyObject* dim = PyUnicode_InternFromString("dim");
  PyObject* splitFactor = PyUnicode_InternFromString("split_factor");
  PyObject* reduceOp = PyUnicode_InternFromString("reduce_op");

  PlacementNames() {
    for (nb::handle cls : bridgeModule().attr("placement_classes")) {
      classes.push_back(reinterpret_cast<PyTypeObject*>(nb::borrow(cls).release().ptr()));
    }
  }
};

const PlacementNames& placementNames() {
  static const PlacementNames* const names = new PlacementNames();
  return *names;
}

/// Most recently used first. Only ever used under the interpreter lock; never destroyed, as it may outlive the interpreter.
std::vector<std::shared_ptr<MeshRecord>>& knownMeshes() {
  static auto* const meshes = new std::vector<std::shared_ptr<MeshRecord>>();
  return *meshes;
}

std::string reprOf(nb::handle object) { return nb::cast<std::string>(nb::repr(object)); }

int64_t intOf(nb::handle object, PyObject* name) {
  return nb::cast<int64_t>(nb::steal(PyObject_GetAttr(object.ptr(), name)));
}

Placement readPlacement(nb::handle object, size_t position) {
  const PlacementNames& names = placementNames();
  const auto cls = std::find(names.classes.begin(), names.classes.end(), Py_TYPE(object.ptr()));
  switch (static_cast<PlacementKind>(cls - names.classes.begin())) {
    case PlacementKind::Replicate:
      return Placement::replicate();
    case PlacementKind::Shard:
      return Placement::shard(intOf(object, names.dim));
    case PlacementKind::StridedShard:
      return Placement::stridedShard(intOf(object, names.dim), intOf(object, names.splitFactor));
    case PlacementKind::Partial: {
      const std::string name =
          nb::cast<std::string>(nb::steal(PyObject_GetAttr(object.ptr(), names.reduceOp)));
      if (const std::optional<ReduceKind> reduce = reduceKindFromName(name)) {
        return Placement::partial(*reduce);
      }
      throwUser(ErrorKind::Runtime,
                {"execute", "partial values combine by sum, avg, max, min or product",
                 argumentName(position) + " has placement Partial('" + name + "')",
                 "redistribute it to Replicate() or Shard(dim) first"});
    }
  }
  throwUser(
      ErrorKind::Type,
      {"execute", "placements must be Replicate, Shard, _StridedShard or Partial",
       argumentName(position) + " has placement " + reprOf(object) + " of class " +
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
  throwUser(ErrorKind::Runtime,
            {"execute", "a mesh must be of cpu or cuda devices", "got " + reprOf(mesh),
             "make the mesh with device type cpu or cuda"});
}

std::shared_ptr<MeshRecord> makeRecord(PyObject* mesh) {
  nb::object description = bridgeModule().attr("describe_mesh")(nb::handle(mesh));
  DeviceMesh ranks =
      DeviceMesh::fromRanks(nb::cast<std::vector<int64_t>>(description.attr("ranks")),
                            nb::cast<std::vector<int64_t>>(description.attr("shape")));
  const auto device =
      meshDeviceFromName(nb::cast<std::string>(description.attr("device_type")), mesh);
  auto names = nb::cast<std::vector<std::string>>(description.attr("group_names"));
  const auto rank = nb::cast<int64_t>(description.attr("rank"));
  std::shared_ptr<MeshBinding> binding =
      MeshBinding::fromGroupNames(std::move(ranks), std::move(names), rank);
  return std::make_shared<MeshRecord>(mesh, std::move(binding), device, rankCheckFromEnvironment());
}

}  // namespace

MeshRecord* findMeshRecord(PyObject* mesh) noexcept {
  std::vector<std::shared_ptr<MeshRecord>>& meshes = knownMeshes();
  if (!meshes.empty() && meshes.front()->mesh() == mesh) [[likely]] {
    return meshes.front().get();
  }
  const auto found = std::find_if(meshes.begin(), meshes.end(),
                                  [mesh](const auto& record) { return record->mesh() == mesh; });
  if (found == meshes.end()) {
    return nullptr;
  }
  std::rotate(meshes.begin(), found, found + 1);
  return meshes.front().get();
}

MeshRecord& addMeshRecord(PyObject* mesh) {
  if (MeshRecord* known = findMeshRecord(mesh)) {
    return *known;
  }
  std::shared_ptr<MeshRecord> record = makeRecord(mesh);
  std::vector<std::shared_ptr<MeshRecord>>& meshes = knownMeshes();
  std::shared_ptr<MeshRecord> oldest;
  if (meshes.size() >= kMaxMeshes) {
    oldest = std::move(meshes.back());
    meshes.pop_back();
  }
  MeshRecord& added = **meshes.insert(meshes.begin(), std::move(record));
  // Dropped when the list is whole again: it may run Python code.
  oldest.reset();
  return added;
}

MeshRecord::MeshRecord(PyObject* mesh, std::shared_ptr<MeshBinding> binding, MeshDevice device,
                       RankCheck rankCheck)
    : mesh_(mesh),
      binding_(std::move(binding)),
      device_(device),
      collectives_(makeCollectives(binding_)),
      linearRank_(binding_->mesh().linearIndexOf(binding_->rank())),
      rankCheck_(rankCheck) {
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
  lastProgram_ = 0;
  for (const auto& [id, specs] : dropped) {
    for (PyObject* spec : specs) {
      Py_DECREF(spec);
    }
  }
}

const SpecRecord* MeshRecord::findSpec(PyObject* placements, PyObject* tensorMeta,
                                       PyObject* shardOrder) noexcept {
  for (size_t i = 0, at = nextSpec_; i < specs_.size(); ++i, ++at) {
    at = at < specs_.size() ? at : 0;
    const SpecRecord* record = specs_[at].get();
    if (record->placements == placements && record->tensorMeta == tensorMeta &&
        record->shardOrder == shardOrder) {
      nextSpec_ = at + 1;
      return record;
    }
  }
  return nullptr;
}

const SpecRecord& MeshRecord::addSpec(PyObject* placements, PyObject* tensorMeta,
                                      PyObject* shardOrder, size_t position) {
  if (const SpecRecord* known = findSpec(placements, tensorMeta, shardOrder)) {
    return *known;
  }
  auto record =
      std::make_unique<SpecRecord>(readSpec(placements, tensorMeta, shardOrder, position));
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
                                   argumentName(position) + " has a spec without tensor_meta",
                                   "make it with DTensor.from_local or distribute_tensor"});
  }
  std::vector<Placement> read;
  for (nb::handle placement : nb::handle(placements)) {
    read.push_back(readPlacement(placement, position));
  }
  // Strided placements carry the shard order themselves.
  const bool strided =
      std::any_of(read.begin(), read.end(), [](const Placement& p) { return p.isStridedShard(); });
  const std::vector<ShardOrderEntry> order =
      strided ? std::vector<ShardOrderEntry>() : readShardOrder(shardOrder);
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
  if (results.programId == lastProgram_) [[likely]] {
    return *lastSpecs_;
  }
  const auto found = outputSpecs_.find(results.programId);
  if (found != outputSpecs_.end()) {
    lastProgram_ = results.programId;
    lastSpecs_ = &found->second;
    return found->second;
  }
  nb::object makeSpec = bridgeModule().attr("make_spec");
  std::vector<nb::object> specs;
  for (const PolymorphicValue& value : results.values) {
    const DistributedTensor& tensor = value.as<DistributedTensor>();
    nb::list placements;
    for (const Placement& placement : tensor.placements()) {
      placements.append(nb::make_tuple(static_cast<int>(placement.kind), placement.dim,
                                       placement.splitFactor,
                                       std::string(nameOf(placement.reduce))));
    }
    const c10::DimVector sizes = tensor.sizes();
    const c10::DimVector strides = tensor.strides();
    nb::object local = nb::steal(tensorObject(tensor.local()));
    specs.push_back(
        makeSpec(nb::handle(mesh_), placements, std::vector<int64_t>(sizes.begin(), sizes.end()),
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

void checkSameBinding(const MeshRecord& first, const MeshRecord& other, size_t position) {
  if (first.binding().id() == other.binding().id()) {
    return;
  }
  const std::string firstText = first.binding().mesh().toText();
  const std::string otherText = other.binding().mesh().toText();
  if (firstText != otherText) {
    throwUser(ErrorKind::Runtime,
              {"execute", "distributed tensors must lie over one mesh",
               argumentName(position) + " is on " + otherText + ", the ones before on " + firstText,
               "redistribute them onto one mesh first"});
  }
  throwUser(ErrorKind::Runtime,
            {"execute", "distributed tensors must lie over one mesh",
             argumentName(position) + " is on " + otherText +
                 ", which is equal to the mesh of the ones before but runs on other process groups",
             "make all DTensors of a call with one DeviceMesh object"});
}

void releaseMeshes() {
  const std::vector<std::shared_ptr<MeshRecord>> dropped = std::move(knownMeshes());
  knownMeshes().clear();
  // Waits for a thread of its own.
  const nb::gil_scoped_release letOthersRun;
  releaseGroups();
}

}  // namespace meshfuse
