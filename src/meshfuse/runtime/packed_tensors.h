// Packed 4-bit floats at the border of a call: torch's tensors hold half as many elements as the definition counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshfuse/ops/op_info.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Sizes of the whole tensor as the definition counts its elements.
std::vector<int64_t> sizesInElements(const TensorType& type, const ArgView& arg);

/// Local sizes and strides so counted: a step of a byte is one of two elements.
struct ElementLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};
ElementLayout layoutInElements(const TensorType& type, const c10::TensorImpl& tensor);

/// Refuses a distributed tensor of packed elements that is partial, or whose pairs lie uneven over the packed dimension: its ranks
/// would hold other elements than their shares.
void checkPackedArg(const Fusion& fusion, size_t position, const ArgView& arg);

/// Where packed elements leave a program: for each of its results, outputs and then the values written into inputs, the dimension
/// in which they are packed; -1 for other types. Empty where no result is packed.
std::vector<int32_t> packedResults(const Fusion& fusion);

/// Refuses results, of the types of `concrete`, that no torch tensor holds: an odd number of elements in the packed dimension, or
/// uneven shards of it.
void checkPackedOutputs(const Fusion& concrete, std::span<const int32_t> packed);

/// A tensor of the inputs of a program: unpacked where its type is packed.
PolymorphicValue unpackedInput(const Fusion& fusion, size_t position, PolymorphicValue value);

/// A result as torch holds it.
void packResult(PolymorphicValue& value, int32_t dim);

}  // namespace meshfuse
