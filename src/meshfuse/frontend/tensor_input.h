// A tensor input as a user describes it, and the form the IR stores it in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// What `define_tensor` is given. `shape` entries: -1 symbolic, 0 empty, 1 broadcast, n static. `contiguity` is in allocation
/// order, nullopt exactly on broadcast dimensions: those of size 1, and expanded ones (nullopt beside another size).
/// strideOrder[d] is the position of dimension d in memory, 0 being innermost; empty for row-major.
struct TensorInput {
  std::vector<int64_t> shape;
  Contiguity contiguity;
  PrimType dtype = PrimType::Float;
  bool isCpu = false;
  std::vector<int64_t> strideOrder;
};

/// As Python writes it: `[True, None]`.
std::string contiguityText(const Contiguity& contiguity);

/// `value` for every dimension that is not a broadcast.
Contiguity uniformContiguity(std::span<const int64_t> shape, std::span<const int64_t> strideOrder,
                             bool value);

/// The same input with packed 4-bit floats unpacked: their innermost dimension in memory is doubled. Throws
/// UserError(Runtime) where the element type does not allow the shape; Fusion::addInputTensor checks the rest.
TensorInput storedForm(TensorInput input);

/// The input that describes a tensor of these sizes and strides; sizes other than 1 are symbolic unless `staticSizes`.
TensorInput tensorInputOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                          PrimType dtype, bool staticSizes, bool isCpu);

}  // namespace meshfuse
