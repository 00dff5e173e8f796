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

namespace meshfuse {
namespace {

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {"define_tensor", rule, found, wayOut});
}

/// The innermost dimension in memory, of a shape that has dimensions.
size_t innermostDim(const TensorInput& input) {
  const auto found = std::ranges::find(input.strideOrder, 0);
  return found == input.strideOrder.end() ? input.shape.size() - 1
                                          : static_cast<size_t>(found - input.strideOrder.begin());
}

void unpackFloat4(TensorInput& input) {
  input.dtype = PrimType::Float4_e2m1fn;
  if (input.shape.empty()) {
    refuse("a tensor of packed 4-bit floats has at least one dimension",
           "got Float4_e2m1fn_x2 with shape []", "give it the dimension that is packed");
  }
  const size_t dim = innermostDim(input);
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
  return input;
}

TensorInput tensorInputOf(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                          PrimType dtype, bool staticSizes, bool isCpu) {
  TensorDescriptor descriptor = computeTensorDescriptor(sizes, strides);
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
