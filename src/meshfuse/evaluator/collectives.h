// The collectives a program may ask for. The evaluator only calls these functions; a simulated mesh and communication/
// implement them, and the caller passes them in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "meshfuse/mesh/device_mesh.h"
#include "meshfuse/mesh/placement.h"

namespace meshfuse {

/// What one collective does. It runs on the ranks of `mesh` that differ only in their coordinate on `meshAxis`.
struct CollectiveSpec {
  const DeviceMesh* mesh = nullptr;
  int64_t meshAxis = 0;
  int64_t dim = -1;                     // allGather: dim concatenated; reduceScatter: dim scattered
  ReduceKind reduce = ReduceKind::Sum;  // allReduce and reduceScatter
};

/// Local tensors of the ranks hosted in this process, in ascending linear mesh index: one for a real process,
/// all of them for a simulated mesh.
using LocalTensors = std::vector<at::Tensor>;

struct Collectives {
  /// Every rank gets the reduction over the axis. Shapes are kept.
  std::function<LocalTensors(const CollectiveSpec&, const LocalTensors&)> allReduce;
  /// Every rank gets the locals of the axis concatenated along `dim`, in coordinate order. Locals have equal shapes.
  std::function<LocalTensors(const CollectiveSpec&, const LocalTensors&)> allGather;
  /// Every rank gets its chunk along `dim` of the reduction over the axis; `dim` divides by the axis.
  std::function<LocalTensors(const CollectiveSpec&, const LocalTensors&)> reduceScatter;
  /// Throws UserError(Runtime) naming the ranks unless all ranks of `mesh` call it with the same fingerprint. Called before
  /// the runs that the caller wants checked, at least a program's first; `what` describes the program, asked where ranks differ.
  std::function<void(const DeviceMesh& mesh, uint64_t fingerprint,
                     const std::function<std::string()>& what)>
      agree;
};

}  // namespace meshfuse
