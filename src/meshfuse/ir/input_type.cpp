#include "meshfuse/ir/input_type.h"

#include <algorithm>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"

namespace meshfuse {

namespace {

[[noreturn]] void refuse(const std::string& rule, const std::string& found,
                         const std::string& wayOut) {
  throwUser(ErrorKind::Runtime, {"define_tensor", rule, found, wayOut});
}

void checkSizes(std::span<const int64_t> shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < -1) {
      refuse("a size must be one of four kinds",
             "the value " + std::to_string(shape[i]) + " at index " + std::to_string(i) +
                 " was neither symbolic(-1), zero_element(0), broadcast(1), or static(>1)",
             "use -1 for a size that is known only at run time");
    }
  }
}

void checkStrideOrder(std::span<const int64_t> order, size_t rank) {
  if (order.empty()) {
    return;
  }
  std::string found = "got stride_order " + toText(order) + " for rank " + std::to_string(rank);
  std::string wayOut = "give each dimension its position in memory, 0 for the innermost";
  if (order.size() != rank) {
    refuse("stride_order must have an entry for each dimension", found, wayOut);
  }
  std::vector<bool> isTaken(rank, false);
  for (int64_t position : order) {
    if (position < 0 || position >= static_cast<int64_t>(rank)) {
      refuse("stride_order must number the dimensions from 0",
             found + ", where " + std::to_string(position) + " is out of range", wayOut);
    }
    if (isTaken[static_cast<size_t>(position)]) {
      refuse("stride_order must number the dimensions from 0",
             found + " with duplicated stride_order entries", wayOut);
    }
    isTaken[static_cast<size_t>(position)] = true;
  }
}

void checkContiguity(std::span<const int64_t> shape, const Contiguity& contiguity,
                     std::span<const int64_t> strideOrder) {
  if (contiguity.size() != shape.size()) {
    refuse("contiguity must have an entry for each dimension",
           "got " + std::to_string(contiguity.size()) + " entries for shape " + toText(shape) +
               " of rank " + std::to_string(shape.size()),
           "give True, False or, for broadcast dimensions, None for each dimension");
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    size_t position = allocationPosition(dim, shape.size(), strideOrder);
    if (shape[dim] == 1 && contiguity[position].has_value()) {
      refuse("contiguity must be None on broadcast dimensions",
             "got " + std::string(*contiguity[position] ? "True" : "False") + " at index " +
                 std::to_string(position) + " for dimension " + std::to_string(dim) + " of shape " +
                 toText(shape),
             "give None there, or -1 as the size if the dimension does not broadcast");
    }
  }
}

}  // namespace

void checkInputType(std::span<const int64_t> shape, const Contiguity& contiguity,
                    std::span<const int64_t> strideOrder, bool isCpuScalar) {
  checkSizes(shape);
  checkStrideOrder(strideOrder, shape.size());
  checkContiguity(shape, contiguity, strideOrder);
  if (isCpuScalar && !shape.empty()) {
    refuse(
        "a tensor on the CPU beside ones on another device must be a scalar",
        "got is_cpu=True for shape " + toText(shape) + " of rank " + std::to_string(shape.size()),
        "leave is_cpu out, or give the shape []");
  }
}

bool isRowMajor(std::span<const int64_t> strideOrder) noexcept {
  for (size_t dim = 0; dim < strideOrder.size(); ++dim) {
    if (strideOrder[dim] != static_cast<int64_t>(strideOrder.size() - 1 - dim)) {
      return false;
    }
  }
  return true;
}

size_t allocationPosition(size_t dim, size_t rank, std::span<const int64_t> strideOrder) noexcept {
  return strideOrder.empty() ? dim : rank - 1 - static_cast<size_t>(strideOrder[dim]);
}

}  // namespace meshfuse
