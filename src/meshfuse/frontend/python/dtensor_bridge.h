// Between torch's DTensor objects and local tensors with a ShardingId.
#pragma once

#include <cstdint>

#include <Python.h>

#include "meshfuse/frontend/python/mesh_record.h"
#include "meshfuse/mesh/sharding.h"
#include "meshfuse/runtime/call_results.h"

namespace meshfuse {

/// A DTensor taken apart. `local` is a new reference to an exact torch.Tensor; sizes and strides are the global tensor's.
struct DtensorParts {
  PyObject* local = nullptr;
  MeshRecord* mesh = nullptr;
  ShardingId sharding;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;
  size_t rank = 0;
};

/// Whether the object is exactly a torch DTensor. False as long as the program has not imported torch.distributed.tensor.
bool isDtensor(PyObject* object) noexcept;

/// Throws UserError naming the argument's position: an unknown placement, a missing or freed spec, a mesh without this
/// process, a destroyed process group.
DtensorParts readDtensor(PyObject* dtensor, size_t position);

void checkGlobalRank(const DtensorParts& parts, size_t rank, size_t position);

/// A new reference to the plain tensor behind a tensor subclass that only has to be waited for; throws for any other.
PyObject* settleTensor(PyObject* tensor, size_t position);

/// A list of the results as Python objects: tensors, and DTensors on `mesh`. Consumes the results.
PyObject* wrapResults(CallResults&& results, MeshRecord* mesh);

}  // namespace meshfuse
