#include "meshfuse/runtime/memory_overlap.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include <c10/util/SmallVector.h>

#include "meshfuse/runtime/arg_view.h"

namespace meshfuse {

namespace {

/// An unknown integer between `low` and `high`, `coefficient` times; coefficients are positive.
struct Term {
  int64_t coefficient = 0;
  int64_t low = 0;
  int64_t high = 0;
};
using Terms = c10::SmallVector<Term, 16>;

constexpr int kMaxSteps = 100000;

int64_t floorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
int64_t ceilDivide(int64_t a, int64_t b) { return -floorDivide(-a, b); }

/// Whether the terms can sum up to `sum`. True as well when `steps` run out. Terms are sorted by coefficient, largest first,
/// so that for the layouts of slices few choices remain at each.
bool reaches(std::span<const Term> terms, int64_t sum, int& steps) {
  if (terms.empty()) {
    return sum == 0;
  }
  if (--steps < 0) {
    return true;
  }
  const Term& first = terms.front();
  int64_t least = 0;
  int64_t most = 0;
  for (const Term& term : terms.subspan(1)) {
    least += term.coefficient * term.low;
    most += term.coefficient * term.high;
  }
  const int64_t from = std::max(first.low, ceilDivide(sum - most, first.coefficient));
  const int64_t to = std::min(first.high, floorDivide(sum - least, first.coefficient));
  for (int64_t count = from; count <= to; ++count) {
    if (reaches(terms.subspan(1), sum - count * first.coefficient, steps)) {
      return true;
    }
  }
  return false;
}

void sortByCoefficient(Terms& terms) {
  std::ranges::sort(terms, std::greater<>(), &Term::coefficient);
}

/// The bytes from the first element's first to the last element's last, as offsets.
int64_t spanOf(const c10::TensorImpl& tensor) {
  int64_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    last += (tensor.sizes()[dim] - 1) * tensor.strides()[dim];
  }
  return (last + 1) * static_cast<int64_t>(tensor.dtype().itemsize());
}

/// The addresses of a tensor's bytes relative to its first, `sign` times.
void addBytes(Terms& terms, const c10::TensorImpl& tensor, int64_t sign) {
  const auto itemBytes = static_cast<int64_t>(tensor.dtype().itemsize());
  const auto add = [&](int64_t size, int64_t stride) {
    if (size > 1 && stride != 0) {
      terms.push_back({stride, sign < 0 ? 1 - size : 0, sign < 0 ? 0 : size - 1});
    }
  };
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    add(tensor.sizes()[dim], tensor.strides()[dim] * itemBytes);
  }
  add(itemBytes, 1);
}

}  // namespace

bool overlapsItself(c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    return false;
  }
  Terms terms;  // differences of two indices
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] > 1) {
      if (strides[dim] == 0) {
        return true;
      }
      terms.push_back({strides[dim], 1 - sizes[dim], sizes[dim] - 1});
    }
  }
  sortByCoefficient(terms);
  int steps = kMaxSteps;
  // Two indices that differ, the first where they do by a positive number.
  for (std::span<Term> rest(terms.data(), terms.size()); !rest.empty(); rest = rest.subspan(1)) {
    rest.front().low = 1;
    if (reaches(rest, 0, steps)) {
      return true;
    }
  }
  return false;
}

bool mayShareMemory(const c10::TensorImpl& a, const c10::TensorImpl& b) {
  const auto* first = static_cast<const char*>(dataOf(a));
  const auto* second = static_cast<const char*>(dataOf(b));
  if (first == nullptr || second == nullptr || a.numel() == 0 || b.numel() == 0 ||
      a.device() != b.device()) {
    return false;
  }
  return first < second + spanOf(b) && second < first + spanOf(a);
}

bool shareMemory(const c10::TensorImpl& a, const c10::TensorImpl& b) {
  if (!mayShareMemory(a, b)) {
    return false;
  }
  Terms terms;
  addBytes(terms, a, 1);
  addBytes(terms, b, -1);
  sortByCoefficient(terms);
  int steps = kMaxSteps;
  const auto distance = static_cast<const char*>(dataOf(b)) - static_cast<const char*>(dataOf(a));
  return reaches({terms.data(), terms.size()}, distance, steps);
}

}  // namespace meshfuse
