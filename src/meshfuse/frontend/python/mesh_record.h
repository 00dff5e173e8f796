// What is known of torch's DeviceMesh objects and of the specs of DTensors on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <c10/util/DimVector.h>
#include <nanobind/nanobind.h>

#include "meshfuse/communication/mesh_binding.h"
#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/mesh/sharding.h"
#include "meshfuse/runtime/call_results.h"
#include "meshfuse/runtime/rank_check.h"

namespace meshfuse {

/// One spec's content as seen once: recognized again by the identity of its parts, which are immutable and kept alive here.
struct SpecRecord {
  PyObject* placements = nullptr;
  PyObject* tensorMeta = nullptr;
  PyObject* shardOrder = nullptr;
  ShardingId sharding;
  c10::DimVector sizes;
  c10::DimVector strides;
};

/// What is known of one torch DeviceMesh object: its process groups, and what was read from and made for DTensors on it. Used
/// under the interpreter lock alone; dropped when a process group is destroyed and at exit.
class MeshRecord : public std::enable_shared_from_this<MeshRecord> {
 public:
  MeshRecord(PyObject* mesh, std::shared_ptr<MeshBinding> binding, MeshDevice device,
             RankCheck rankCheck);
  ~MeshRecord();

  PyObject* mesh() const noexcept { return mesh_; }
  const MeshBinding& binding() const noexcept { return *binding_; }
  MeshDevice device() const noexcept { return device_; }
  const Collectives& collectives() const noexcept { return collectives_; }
  int64_t linearRank() const noexcept { return linearRank_; }
  RankCheck rankCheck() const noexcept { return rankCheck_; }

  /// The record of a spec with these parts (borrowed), or null.
  const SpecRecord* findSpec(PyObject* placements, PyObject* tensorMeta,
                             PyObject* shardOrder) noexcept;
  /// The same, read and kept when it is new; `position` is for errors. Runs Python code.
  const SpecRecord& addSpec(PyObject* placements, PyObject* tensorMeta, PyObject* shardOrder,
                            size_t position);

  /// The specs of a bound program's results (borrowed), made at its first call.
  const std::vector<PyObject*>& outputSpecs(const CallResults& results);

 private:
  static constexpr size_t kMaxSpecs = 256;
  static constexpr size_t kMaxPrograms = 4096;

  SpecRecord readSpec(PyObject* placements, PyObject* tensorMeta, PyObject* shardOrder,
                      size_t position) const;
  void clearSpecs();
  void clearOutputSpecs();

  PyObject* mesh_;
  std::shared_ptr<MeshBinding> binding_;
  MeshDevice device_;
  Collectives collectives_;
  int64_t linearRank_;
  RankCheck rankCheck_;
  std::vector<std::unique_ptr<SpecRecord>> specs_;
  size_t nextSpec_ = 0;  // the place after the last one found: calls repeat their arguments' order
  std::unordered_map<uint64_t, std::vector<PyObject*>> outputSpecs_;
  uint64_t lastProgram_ = 0;
  const std::vector<PyObject*>* lastSpecs_ = nullptr;
};

/// The record of a torch DeviceMesh, or null.
MeshRecord* findMeshRecord(PyObject* mesh) noexcept;
/// The same, made when it is new. Runs Python code; throws UserError or a Python error for a mesh that this process cannot use.
MeshRecord& addMeshRecord(PyObject* mesh);

/// Throws UserError(Runtime) unless both run on the same process groups.
void checkSameBinding(const MeshRecord& first, const MeshRecord& other, size_t position);

/// Forgets every mesh, spec and process group.
void releaseMeshes();

/// meshfuse._dtensor
nanobind::module_ bridgeModule();

/// `argument 2`
std::string argumentName(size_t position);

}  // namespace meshfuse
