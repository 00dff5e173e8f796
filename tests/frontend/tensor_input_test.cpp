// Descriptions of tensor inputs and the form the IR stores.
#include "meshfuse/frontend/tensor_input.h"

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using Sizes = std::vector<int64_t>;
constexpr std::nullopt_t N = std::nullopt;

TEST(TensorInput, OneFlagSkipsBroadcastsInAllocationOrder) {
  EXPECT_EQ(uniformContiguity(Sizes{-1, 1, 4}, {}, true), (Contiguity{true, N, true}));
  EXPECT_EQ(uniformContiguity(Sizes{1, 4, -1}, Sizes{0, 2, 1}, false),
            (Contiguity{false, false, N}));
}

TEST(TensorInput, OneFlagIsSafeForAStrideOrderThatIsNone) {
  EXPECT_EQ(uniformContiguity(Sizes{1, 1}, Sizes{0}, true), (Contiguity{N, N}));
  EXPECT_EQ(uniformContiguity(Sizes{1, 4}, Sizes{-9, 77}, true).size(), 2U);
}

TEST(TensorInput, SizesOfATensorAreSymbolicUnlessAsked) {
  const Sizes sizes = {4, 1, 0, 5};
  const Sizes strides = {5, 5, 5, 1};
  EXPECT_EQ(tensorInputOf(sizes, strides, PrimType::Half, false, false).shape,
            (Sizes{-1, 1, -1, -1}));
  EXPECT_EQ(tensorInputOf(sizes, strides, PrimType::Half, true, false).shape, sizes);
}

TEST(TensorInput, PackedFloatsAreUnpackedInnermostInMemory) {
  const auto unpacked = [](Sizes shape, Sizes order) {
    return storedForm({std::move(shape), {}, PrimType::Float4_e2m1fn_x2, false, std::move(order)});
  };
  EXPECT_EQ(unpacked({4, 8}, {}).shape, (Sizes{4, 16}));
  EXPECT_EQ(unpacked({4, 8}, {0, 1}).shape, (Sizes{8, 8}));
  EXPECT_EQ(unpacked({4, -1}, {}).shape, (Sizes{4, -1}));
  EXPECT_EQ(unpacked({4, 8}, {}).dtype, PrimType::Float4_e2m1fn);
  EXPECT_THROW(unpacked({}, {}), UserError);
  EXPECT_THROW(unpacked({1}, {}), UserError);
}

TEST(TensorInput, WritesContiguityAsPythonDoes) {
  EXPECT_EQ(contiguityText({true, N, false}), "[True, None, False]");
  EXPECT_EQ(contiguityText({}), "[]");
}

}  // namespace
}  // namespace meshfuse
