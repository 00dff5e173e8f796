// A tensor input as a user describes it, and the form the IR stores it in.
#include "meshfuse/frontend/tensor_input.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/frontend/tensor_descriptor.h"
#include "meshfuse/ir/input_type.h"
#include "meshfuse/ops/packed_types.h"

namespace meshfuse {
namespace {

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"define_tensor", rule, found, wayOut});
}

std::string described(const TensorInput& input) {
  return "shape " + toText(input.shape) + " of Float4_e2m1fn";
}

/// Elements of which two lie in a byte have memory of their own, in a dimension of an even size.
void checkPacked(const TensorInput& input) {
  checkPackable("define_tensor", described(input), input.shape,
                packedDim(input.strideOrder, static_cast<int64_t>(input.shape.size())));
  if (!input.contiguity.empty() && !input.contiguity.back()) {
    refuse("the packed dimension of 4-bit floats is no expanded broadcast",
           "got contiguity None for the innermost dimension of " + described(input),
           "give it True or False");
  }
}

void unpackFloat4(TensorInput& input) {
  input.dtype = PrimType::Float4_e2m1fn;
  if (input.shape.empty()) {
    refuse("a tensor of packed 4-bit floats has at least one dimension",
           "got Float4_e2m1fn_x2 with shape []", "give it the dimension that is packed");
  }
  const auto dim =
      static_cast<size_t>(packedDim(input.strideOrder, static_cast<int64_t>(input.shape.size())));
  if (dim >= input.shape.size() || input.shape[dim] <= 0) {
    return;
  }
  int64_t& size = input.shape[dim];
  if (size == 1) {
    refuse(
        "the packed dimension of 4-bit floats holds two elements a byte",
        "got size 1, which would be a broadcast of two elements, in shape " + toText(input.shape),
        "declare the dimension symbolic with -1");
  }
  if (size > std::numeric_limits<int64_t>::max() / 2) {
    refuse("sizes must fit 64 bits", "got " + std::to_string(size) + " pairs of 4-bit floats",
           "use a smaller size");
  }
  size *= 2;
}

}  // namespace

std::string contiguityText(const Contiguity& contiguity) {
  std::vector<std::string> parts;
  for (const std::optional<bool>& entry : contiguity) {
    parts.emplace_back(!entry ? "None" : *entry ? "True" : "False");
  }
  return "[" + joinText(parts, ", ") + "]";
}

Contiguity uniformContiguity(std::span<const int64_t> shape, std::span<const int64_t> strideOrder,
                             bool value) {
  const size_t rank = shape.size();
  Contiguity result(rank, value);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (shape[dim] == 1) {
      // A stride order that is none is refused when the input is added; here it only has to be safe.
      const size_t position = allocationPosition(
          dim, rank, strideOrder.size() == rank ? strideOrder : std::span<const int64_t>());
      if (position < rank) {
        result[position].reset();
      }
    }
  }
  return result;
}

TensorInput storedForm(TensorInput input) {
  if (input.dtype == PrimType::Null) {
    refuse("a tensor has an element type", "got DataType.Null", "name the type of its elements");
  }
  if (input.dtype == PrimType::Float4_e2m1fn_x2) {
    unpackFloat4(input);
  }
  if (input.dtype == PrimType::Float4_e2m1fn) {
    checkPacked(input);
  }
  return input;
}

namespace {

/// The same tensor with an element for each of two in a byte of `dim`, which all other strides step over.
TensorInput unpackedInputOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                            int64_t dim, bool staticSizes) {
  std::vector<int64_t> elementSizes(sizes.begin(), sizes.end());
  std::vector<int64_t> elementStrides(strides.begin(), strides.end());
  for (size_t i = 0; i < elementSizes.size(); ++i) {
    int64_t& doubled = static_cast<int64_t>(i) == dim ? elementSizes[i] : elementStrides[i];
    if (doubled > std::numeric_limits<int64_t>::max() / 2) {
      refuse("sizes and strides must fit 64 bits",
             "got " + std::to_string(doubled) + " for pairs of 4-bit floats", "use a smaller one");
    }
    doubled *= 2;
  }
  TensorInput input = tensorInputOf(elementSizes, elementStrides, PrimType::Float4_e2m1fn,
                                    staticSizes, /*isCpu=*/false);
  // A byte that is repeated is two elements that are.
  input.contiguity.back() = input.contiguity.back().value_or(false);
  return input;
}

}  // namespace

TensorInput tensorInputOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                          PrimType dtype, bool staticSizes, bool isCpu) {
  TensorDescriptor descriptor = computeTensorDescriptor(sizes, strides);
  if (dtype == PrimType::Float4_e2m1fn_x2 && !sizes.empty()) {
    return unpackedInputOf(sizes, strides, packedDim(descriptor.strideOrder, std::ssize(sizes)),
                           staticSizes);
  }
  TensorInput input{{sizes.begin(), sizes.end()},
                    std::move(descriptor.contiguity),
                    dtype,
                    isCpu,
                    std::move(descriptor.strideOrder)};
  if (!staticSizes) {
    std::ranges::replace_if(input.shape, [](int64_t size) { return size != 1; }, -1);
  }
  return input;
}

}  // namespace meshfuse
