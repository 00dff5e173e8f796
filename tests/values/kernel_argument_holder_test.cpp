// The ordered arguments of a run, their bytes, and ids of arguments that are alike.
#include "meshfuse/values/kernel_argument_holder.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/input_ids.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

using Ints = std::vector<int64_t>;

TEST(Values, D01_AnyMixInOrder) {
  const at::Tensor tensor = at::ones({2});
  KernelArgumentHolder holder(tensor, 2, 0.5, true, Complex(1, 2), Pointer(), Values{1, 2},
                              c10::IValue(int64_t{7}), std::optional<at::Tensor>(tensor),
                              evenTensor());
  const Values expected = {tensor, 2, 0.5, true, Complex(1, 2), Pointer(), Values{1, 2}, 7, tensor};
  ASSERT_EQ(holder.size(), expected.size() + 1);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(isSame(holder[i], expected[i])) << i;
  }
  EXPECT_TRUE(holder.back().is<DistributedTensor>());
}

TEST(Values, D01_HoldersAppendFlat) {
  KernelArgumentHolder inner(1, 2);
  KernelArgumentHolder outer(0);
  outer.push(inner);
  outer.push(std::move(inner));
  outer.push(outer);
  EXPECT_TRUE(inner.empty());  // NOLINT(bugprone-use-after-move): what moving leaves
  const Ints expected = {0, 1, 2, 1, 2, 0, 1, 2, 1, 2};
  ASSERT_EQ(outer.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(outer[i].as<int64_t>(), expected[i]);
  }
  outer.pushAll(Ints{8, 9});
  outer.pushAll(std::vector<at::Tensor>{at::ones({1})});
  EXPECT_EQ(outer[11].as<int64_t>(), 9);
  EXPECT_TRUE(outer.back().is<at::Tensor>());
}

TEST(Values, D01_AbsentOptionalTensorThrows) {
  KernelArgumentHolder holder(1);
  EXPECT_EQ(userErrorText(ErrorKind::Value, [&] { holder.push(std::optional<at::Tensor>()); }),
            "KernelArgumentHolder.push: an optional tensor must be present: an absent tensor as "
            "argument 1; leave "
            "the argument out, or pass a tensor");
  EXPECT_THROW(holder.push(std::optional<at::Tensor>(at::Tensor())), UserError);
  EXPECT_EQ(holder.size(), 1U);
}

TEST(Values, D02_SizeIterationAndAccess) {
  KernelArgumentHolder holder;
  EXPECT_TRUE(holder.empty());
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Index, [&] { (void)holder.back(); }),
               "an empty holder");
  holder.reserve(4);
  holder.push(1);
  holder.push(2);
  holder.resize(4);
  EXPECT_EQ(holder.size(), 4U);
  EXPECT_TRUE(holder.back().isNull());
  holder[3] = 4;
  holder.at(2) = 3;
  int64_t forward = 0;
  for (const PolymorphicValue& value : holder) {
    forward = forward * 10 + value.as<int64_t>();
  }
  EXPECT_EQ(forward, 1234);
  int64_t backward = 0;
  for (auto value = holder.rbegin(); value != holder.rend(); ++value) {
    backward = backward * 10 + value->as<int64_t>();
  }
  EXPECT_EQ(backward, 4321);
  EXPECT_EQ(userErrorText(ErrorKind::Index, [&] { (void)holder[4]; }),
            "KernelArgumentHolder: the position must be that of an argument: 4 for 4 arguments; "
            "use 0 to 3");
  EXPECT_THROW((void)std::as_const(holder).at(9), UserError);
}

TEST(Values, D02_EraseByAddress) {
  KernelArgumentHolder holder(5, 5, 5);
  holder[1] = 6;
  holder.erase(&holder[1]);
  ASSERT_EQ(holder.size(), 2U);
  EXPECT_EQ(holder[0].as<int64_t>(), 5);
  EXPECT_EQ(holder[1].as<int64_t>(), 5);
  const PolymorphicValue outside = 5;
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Index, [&] { holder.erase(&outside); }),
               "KernelArgumentHolder.erase: the address must be that of an argument");
  EXPECT_EQ(holder.size(), 2U);
}

TEST(Values, D02_OnlyMovesAndClones) {
  static_assert(!std::is_copy_constructible_v<KernelArgumentHolder>);
  static_assert(std::is_nothrow_move_constructible_v<KernelArgumentHolder>);
  KernelArgumentHolder holder(1, 2);
  holder.setCacheId(3);
  const KernelArgumentHolder copy = holder.clone();
  const KernelArgumentHolder moved = std::move(holder);
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_EQ(copy.cacheId(), 3U);
  EXPECT_EQ(moved.cacheId(), 3U);
}

TEST(Values, D03_CommonDevice) {
  const auto meta = [](c10::IntArrayRef sizes) {
    return at::empty(sizes, at::TensorOptions().device(c10::kMeta));
  };
  EXPECT_EQ(KernelArgumentHolder(1, 2.5).commonDevice(), c10::Device(c10::kCPU));
  EXPECT_EQ(KernelArgumentHolder(1).commonDevice(c10::kMeta), c10::Device(c10::kMeta));
  EXPECT_EQ(KernelArgumentHolder(at::ones({2}), 1).commonDevice(c10::kMeta),
            c10::Device(c10::kCPU));
  EXPECT_EQ(KernelArgumentHolder(at::ones({}), meta({2})).commonDevice(), c10::Device(c10::kMeta));
  EXPECT_EQ(KernelArgumentHolder(at::ones({})).commonDevice(c10::kMeta), c10::Device(c10::kCPU));
  EXPECT_EQ(KernelArgumentHolder(evenTensor()).commonDevice(c10::kMeta), c10::Device(c10::kCPU));
  EXPECT_EQ(userErrorText(ErrorKind::Value,
                          [&] { KernelArgumentHolder(at::ones({2}), meta({2})).commonDevice(); }),
            "common device: all tensors must lie on devices of one type: tensors on cpu and meta; "
            "move them to one "
            "device first");
}

TEST(Values, D04_IndexType) {
  const auto metaOf = [](Ints sizes, Ints strides) {
    KernelArgumentHolder holder;
    holder.pushMetaTensor(sizes, strides, PrimType::Float);
    return holder.indexType();
  };
  EXPECT_EQ(metaOf({999}, {1}), PrimType::Int32);
  EXPECT_EQ(metaOf({(int64_t{1} << 31) - 1}, {1}), PrimType::Int);
  EXPECT_EQ(metaOf({2, 3}, {int64_t{1} << 31, 1}), PrimType::Int);
  EXPECT_EQ(metaOf({1 << 20, 1 << 20}, {0, 1}), PrimType::Int32);
  EXPECT_EQ(metaOf({0, int64_t{1} << 40}, {int64_t{1} << 40, 1}), PrimType::Int32);
  EXPECT_EQ(KernelArgumentHolder(1, 2.5).indexType(), PrimType::Int32);
}

TEST(Values, D04_IndexTypeIsTheSameOnEveryRank) {
  // 2^31 + 1 rows over two ranks: the first holds one row more than 2^30, the second 2^30.
  const int64_t rows = (int64_t{1} << 31) + 1;
  const int64_t half = rows / 2;
  for (const int64_t part : {half + 1, half}) {
    const at::Tensor local = at::empty({part}, at::TensorOptions().device(c10::kMeta));
    const KernelArgumentHolder holder(DistributedTensor(local, rowsOver(2), Ints{rows}, Ints{1}));
    EXPECT_EQ(holder.indexType(), PrimType::Int);
  }
}

TEST(Values, D05_MetaTensorFromSizesAndStrides) {
  KernelArgumentHolder holder;
  holder.pushMetaTensor(Ints{2, 3}, Ints{1, 2}, PrimType::Half);
  const at::Tensor& tensor = holder[0].asTensor();
  EXPECT_TRUE(tensor.is_meta());
  EXPECT_EQ(tensor.sizes(), (c10::IntArrayRef{2, 3}));
  EXPECT_EQ(tensor.strides(), (c10::IntArrayRef{1, 2}));
  EXPECT_EQ(tensor.scalar_type(), at::kHalf);
  EXPECT_EQ(userErrorText(ErrorKind::Value,
                          [&] { holder.pushMetaTensor(Ints{2}, Ints{1, 2}, PrimType::Half); }),
            "KernelArgumentHolder.pushMetaTensor: sizes and strides must be of one length: sizes "
            "[2] and strides "
            "[1, 2]; pass one stride for each size");
}

TEST(Values, D07_StorageBytesCountWholeStoragesOnce) {
  const at::Tensor base = at::ones({10, 10});
  const KernelArgumentHolder holder(base[0], base[1], 3, at::ones({4}, at::kDouble));
  EXPECT_EQ(holder.storageBytes(), 10 * 10 * 4 + 4 * 8);
}

TEST(Values, D08_CacheIdIsAbsentUntilSet) {
  KernelArgumentHolder holder;
  EXPECT_FALSE(holder.cacheId().has_value());
  holder.setCacheId(0);
  EXPECT_EQ(holder.cacheId(), 0U);
}

TEST(Values, D10_ErasedArgumentsDie) {
  at::Tensor tensor = at::ones({1024});
  const auto storage = tensor.storage().getWeakStorageImpl();
  KernelArgumentHolder holder(std::move(tensor), 1);
  EXPECT_FALSE(storage.expired());
  holder.erase(&holder[0]);
  EXPECT_TRUE(storage.expired());
  at::Tensor other = at::ones({4});
  const auto second = other.storage().getWeakStorageImpl();
  holder.push(std::move(other));
  const at::Tensor taken = std::move(holder.back()).takeTensor();
  holder.clear();
  EXPECT_FALSE(second.expired());
}

TEST(Values, D09_EqualMetadataGivesOneId) {
  InputIds ids;
  const auto idOf = [&](const KernelArgumentHolder& holder) { return ids.lookup(holder).id; };
  const size_t base = idOf(KernelArgumentHolder(at::ones({4, 3}), 1));
  EXPECT_EQ(idOf(KernelArgumentHolder(at::zeros({4, 3}), 2)), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({3, 4}), 1)), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({3, 4}).t(), 1)), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({4, 3}, at::kDouble), 1)), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({4, 3}), 1.0)), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({4, 3}))), base);
  EXPECT_NE(idOf(KernelArgumentHolder(at::ones({4, 3}).to(c10::kMeta), 1)), base);
  const at::Tensor shifted = at::ones({13}).slice(0, 1).view({4, 3});
  EXPECT_NE(idOf(KernelArgumentHolder(shifted, 1)), base);
  EXPECT_EQ(idOf(KernelArgumentHolder(evenTensor())), idOf(KernelArgumentHolder(evenTensor())));
  EXPECT_NE(idOf(KernelArgumentHolder(evenTensor())), idOf(KernelArgumentHolder(unevenTensor())));
  EXPECT_NE(idOf(KernelArgumentHolder(evenTensor())),
            idOf(KernelArgumentHolder(DistributedTensor(at::ones({2, 3}), rowsOver(3)))));
}

TEST(Values, D09_ScalarsCountByValueWhereAsked) {
  InputIds ids;
  const std::vector<size_t> second = {1};
  const size_t base = ids.lookup(KernelArgumentHolder(1, 2), second).id;
  EXPECT_EQ(ids.lookup(KernelArgumentHolder(9, 2), second).id, base);
  EXPECT_NE(ids.lookup(KernelArgumentHolder(1, 3), second).id, base);
  EXPECT_NE(ids.lookup(KernelArgumentHolder(1, 2)).id, base);
  EXPECT_THROW(ids.lookup(KernelArgumentHolder(1), second), UserError);
}

TEST(Values, D09_LeastRecentlyUsedIsEvictedAndNamed) {
  InputIds ids(2);
  const KernelArgumentHolder a(at::ones({1}));
  const KernelArgumentHolder b(at::ones({2}));
  const KernelArgumentHolder c(at::ones({3}));
  const size_t idOfA = ids.lookup(a).id;
  const size_t idOfB = ids.lookup(b).id;
  EXPECT_FALSE(ids.lookup(a).evicted.has_value());  // refreshes a
  const InputIds::Lookup third = ids.lookup(c);
  EXPECT_EQ(third.evicted, idOfB);
  EXPECT_EQ(ids.lookup(a).id, idOfA);
  const InputIds::Lookup again = ids.lookup(b);
  EXPECT_EQ(again.evicted, third.id);
  EXPECT_NE(again.id, idOfB);
  EXPECT_EQ(ids.size(), 2U);
  EXPECT_EQ(userErrorText(ErrorKind::Value, [] { InputIds(0); }),
            "InputIds: the capacity must be positive: 0; pass at least 1");
}

}  // namespace
}  // namespace meshfuse::testing
