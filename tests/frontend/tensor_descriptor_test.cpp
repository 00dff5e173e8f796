// Sizes and strides to contiguity and stride order: the reference's own vectors, and a walk over real strides.
#include "meshfuse/frontend/tensor_descriptor.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using Sizes = std::vector<int64_t>;
constexpr std::nullopt_t N = std::nullopt;

struct Row {
  Sizes sizes;
  Sizes strides;
  Contiguity contiguity;
  Sizes strideOrder;
};

TEST(TensorDescriptor, FollowsTheReferenceTable) {
  const std::vector<Row> rows = {
      {{2, 1, 3, 1, 4, 3}, {12, 4, 4, 4, 1, 0}, {true, N, true, N, true, N}, {5, 4, 3, 2, 1, 0}},
      {{2, 3, 1, 5, 4}, {28, 4, 14, 0, 1}, {false, N, true, N, true}, {4, 2, 3, 1, 0}},
      {{2, 2, 1, 1, 2, 2, 2},
       {8, 4, 3, 9, 2, 0, 1},
       {N, true, true, N, true, N, true},
       {5, 4, 3, 6, 2, 1, 0}},
      {{2, 2, 1, 2, 4, 2},
       {2, 32, 1, 8, 0, 4},
       {false, true, true, false, N, N},
       {2, 5, 0, 4, 1, 3}},
      {{2, 1, 3, 1, 4}, {24, 4, 8, 4, 2}, {true, true, N, N, false}, {4, 2, 3, 1, 0}},
      {{2, 2, 2, 2}, {8, 4, 0, 2}, {true, true, N, false}, {3, 2, 1, 0}},
      {{}, {}, {}, {}},
  };
  for (const Row& row : rows) {
    const TensorDescriptor found = computeTensorDescriptor(row.sizes, row.strides);
    EXPECT_EQ(found.contiguity, row.contiguity) << ::testing::PrintToString(row.strides);
    EXPECT_EQ(found.strideOrder, row.strideOrder) << ::testing::PrintToString(row.strides);
  }
}

/// Strides of a dense tensor whose dimension d is at memory position order[d] (0 innermost).
Sizes denseStrides(const Sizes& sizes, const Sizes& order) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t position = 0; position < order.size(); ++position) {
    const auto dim = static_cast<size_t>(std::ranges::find(order, static_cast<int64_t>(position)) -
                                         order.begin());
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

TEST(TensorDescriptor, ReadsEveryOrderOfADenseTensor) {
  const Sizes sizes = {2, 3, 4, 5};
  Sizes order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    const TensorDescriptor found = computeTensorDescriptor(sizes, denseStrides(sizes, order));
    EXPECT_EQ(found.strideOrder, order);
    EXPECT_EQ(found.contiguity, Contiguity(4, true));
  } while (std::ranges::next_permutation(order).found);
}

TEST(TensorDescriptor, RefusesWhatNoTensorHas) {
  const auto textOf = [](const Sizes& sizes, const Sizes& strides) -> std::string {
    try {
      computeTensorDescriptor(sizes, strides);
    } catch (const UserError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(textOf({2, 3}, {1}),
            "compute_tensor_descriptor: sizes and strides must have one entry for each dimension: "
            "got sizes [2, 3] and "
            "strides [1]; pass lists of the same length");
  EXPECT_EQ(textOf({-1}, {1}),
            "compute_tensor_descriptor: sizes must not be negative: got sizes [-1]; pass the sizes "
            "of an actual tensor");
  EXPECT_EQ(textOf({2}, {-1}),
            "compute_tensor_descriptor: strides must not be negative: got strides [-1]; pass the "
            "strides of an actual "
            "tensor, in elements");
}

}  // namespace
}  // namespace meshfuse
