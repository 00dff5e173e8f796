// Reference counts: what a copy costs, that a move costs none, and that nothing leaks over long random sequences.
#include <memory>
#include <random>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/kernel_argument_holder.h"
#include "meshfuse/values/polymorphic_value.h"
#include "meshfuse/values/struct_value.h"
#include "values/sample_values.h"

namespace meshfuse::testing {
namespace {

using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

TEST(ValuesCounts, TakingATensorOutOfAnRvalueTouchesNoCount) {
  at::Tensor tensor = at::ones({2});
  const Owner watcher = tensor.getIntrusivePtr();
  ASSERT_EQ(watcher.use_count(), 2U);
  const void* impl = tensor.unsafeGetTensorImpl();
  PolymorphicValue value = std::move(tensor);
  EXPECT_EQ(watcher.use_count(), 2U);
  PolymorphicValue moved = std::move(value);
  EXPECT_EQ(watcher.use_count(), 2U);
  at::Tensor taken = std::move(moved).takeTensor();
  EXPECT_EQ(watcher.use_count(), 2U);
  EXPECT_EQ(taken.unsafeGetTensorImpl(), impl);
  EXPECT_TRUE(moved.isNull());  // NOLINT(bugprone-use-after-move): what moving leaves
  PolymorphicValue again = std::move(taken);
  at::Tensor asTaken = std::move(again).as<at::Tensor>();
  EXPECT_EQ(watcher.use_count(), 2U);
  asTaken.reset();
  EXPECT_EQ(watcher.use_count(), 1U);
}

TEST(ValuesCounts, ReadingATensorTouchesNoCount) {
  const at::Tensor tensor = at::ones({2});
  const PolymorphicValue value = tensor;
  ASSERT_EQ(tensor.use_count(), 2U);
  const at::Tensor& read = value.asTensor();
  EXPECT_EQ(read.use_count(), 2U);
  EXPECT_EQ(value.tensorUnchecked().use_count(), 2U);
}

TEST(ValuesCounts, CopyCountsOnce) {
  const at::Tensor tensor = at::ones({2});
  const PolymorphicValue value = tensor;
  {
    const PolymorphicValue copy =
        value;  // NOLINT(performance-unnecessary-copy-initialization): it is counted
    EXPECT_EQ(tensor.use_count(), 3U);
  }
  EXPECT_EQ(tensor.use_count(), 2U);
}

TEST(ValuesCounts, DistributedTensorsMoveWithoutCounting) {
  for (const bool even : {true, false}) {
    at::Tensor local = at::ones({2, 3});
    const Owner watcher = local.getIntrusivePtr();
    DistributedTensor tensor =
        even ? DistributedTensor(std::move(local), rowsOver(2))
             : DistributedTensor(std::move(local), rowsOver(2), std::vector<int64_t>{5, 3},
                                 std::vector<int64_t>{3, 1});
    ASSERT_EQ(tensor.isBoxed(), !even);
    EXPECT_EQ(watcher.use_count(), 2U);
    PolymorphicValue value = std::move(tensor);
    EXPECT_EQ(value.as<DistributedTensor>().local().use_count(), 2U);
    DistributedTensor back = std::move(value).as<DistributedTensor>();
    EXPECT_TRUE(value.isNull());  // NOLINT(bugprone-use-after-move): what moving leaves
    EXPECT_EQ(watcher.use_count(), 2U);
    at::Tensor taken = std::move(back).local();
    EXPECT_EQ(watcher.use_count(), 2U);
    EXPECT_EQ(taken.unsafeGetTensorImpl(), watcher.get());
    taken.reset();
    EXPECT_EQ(watcher.use_count(), 1U);
  }
}

TEST(ValuesCounts, UncheckedConstructionCountsNothing) {
  at::Tensor local = at::ones({2});
  const Owner watcher = local.getIntrusivePtr();
  const DistributedTensor tensor = DistributedTensor::evenUnchecked(std::move(local), rowsOver(2));
  EXPECT_EQ(watcher.use_count(), 2U);
  EXPECT_EQ(tensor.size(0), 4);
}

TEST(ValuesCounts, ASharedBoxKeepsItsTensor) {
  const PolymorphicValue value = unevenTensor();
  PolymorphicValue copy = value;
  const at::Tensor taken = std::move(copy).as<DistributedTensor>().local();
  EXPECT_TRUE(value.as<DistributedTensor>().local().is_same(taken));
  DistributedTensor stolen = PolymorphicValue(value).as<DistributedTensor>();
  const at::Tensor local = std::move(stolen).local();
  EXPECT_TRUE(value.as<DistributedTensor>().local().is_same(local));
}

TEST(ValuesCounts, TheTensorImplIsThePayload) {
  // The payload is read as a TensorImpl and as its counted base: both are one address.
  const at::Tensor tensor = at::ones({1});
  const auto* impl = tensor.unsafeGetTensorImpl();
  EXPECT_EQ(static_cast<const void*>(static_cast<const c10::intrusive_ptr_target*>(impl)),
            static_cast<const void*>(impl));
}

/// Random operations on a pool of slots, each mirrored in a plain model: for every tensor how many slots refer to it.
class RandomOperations {
 public:
  explicit RandomOperations(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 8; ++i) {
      tensors_.push_back(at::full({2, 3}, i));
      deaths_.push_back(std::make_shared<int>(0));
    }
    slots_.resize(24);
  }

  void step() {
    PolymorphicValue& slot = slots_[below(slots_.size())];
    PolymorphicValue& other = slots_[below(slots_.size())];
    switch (below(12)) {
      case 0:
        slot = fresh();
        break;
      case 1:
        slot = other;
        break;
      case 2:
        slot = std::move(other);
        break;
      case 3:
        slot.swap(other);
        break;
      case 4:
        slot = wrapped(other);
        break;
      case 5:
        appendTo(slot, other);
        break;
      case 6:
        takeApart(slot);
        break;
      case 7:
        slot = IValueToPolymorphicValue(toIValue(other));
        break;
      case 8:
        throughHolder(slot, other);
        break;
      case 9:
        slot = PolymorphicValue();
        break;
      case 10:
        writeField(slot, other);
        break;
      default:
        EXPECT_TRUE(isSame(slot, PolymorphicValue(slot)));
    }
  }

  void clear() {
    for (PolymorphicValue& slot : slots_) {
      slot = PolymorphicValue();
    }
  }

  void expectOnlyOurReferences() const {
    for (const at::Tensor& tensor : tensors_) {
      EXPECT_EQ(tensor.use_count(), 1U);
    }
    for (const auto& death : deaths_) {
      EXPECT_EQ(death.use_count(), 1);
    }
  }

  /// References from plain tensor slots and vectors of them are at least those the tensor counts.
  void expectCountsCover() const {
    for (const at::Tensor& tensor : tensors_) {
      size_t direct = 1;
      for (const PolymorphicValue& slot : slots_) {
        direct += slot.is<at::Tensor>() && slot.asTensor().is_same(tensor) ? 1 : 0;
      }
      EXPECT_GE(tensor.use_count(), direct);
    }
  }

 private:
  size_t below(size_t count) { return static_cast<size_t>(random_() % count); }

  PolymorphicValue fresh() {
    const at::Tensor& tensor = tensors_[below(tensors_.size())];
    switch (below(10)) {
      case 0:
        return static_cast<int64_t>(random_());
      case 1:
        return static_cast<double>(random_() % 100);
      case 2:
        return random_() % 2 == 0;
      case 3:
        return Complex(1, static_cast<double>(random_() % 3));
      case 4:
        return tensor;
      case 5:
        return DistributedTensor(tensor, rowsOver(2));
      case 6:
        return DistributedTensor(tensor, rowsOver(2), std::vector<int64_t>{3, 3},
                                 std::vector<int64_t>{3, 1});
      case 7:
        return Opaque::of(deaths_[below(deaths_.size())]);
      case 8:
        return structA(1, 2.0);
      default:
        return Values{tensor, 1, tensor};
    }
  }

  static PolymorphicValue wrapped(const PolymorphicValue& value) {
    return depth(value) > 3 ? PolymorphicValue(Values{}) : PolymorphicValue(Values{value, value});
  }

  static int depth(const PolymorphicValue& value) {
    if (!value.is<Values>()) {
      return 0;
    }
    int deepest = 0;
    for (const PolymorphicValue& element : value.as<Values>()) {
      deepest = std::max(deepest, depth(element));
    }
    return deepest + 1;
  }

  static void appendTo(PolymorphicValue& slot, const PolymorphicValue& other) {
    if (slot.is<Values>() && slot.as<Values>().size() < 8 && depth(other) < 3) {
      const PolymorphicValue element = other;
      slot.as<Values>().push_back(element);
    }
  }

  void takeApart(PolymorphicValue& slot) {
    if (slot.is<at::Tensor>()) {
      const at::Tensor taken = std::move(slot).takeTensor();
      EXPECT_TRUE(taken.defined());
    } else if (slot.is<DistributedTensor>()) {
      slot = std::move(slot).as<DistributedTensor>().local();
    } else if (slot.is<Values>()) {
      Values values = std::move(slot).as<Values>();
      slot = values.empty() ? PolymorphicValue() : std::move(values[below(values.size())]);
    }
  }

  static void throughHolder(PolymorphicValue& slot, const PolymorphicValue& other) {
    KernelArgumentHolder holder(other, slot, 3);
    holder.push(std::move(slot));
    KernelArgumentHolder moved = std::move(holder);
    moved.erase(&moved[1]);
    slot = std::move(moved.back());
  }

  void writeField(PolymorphicValue& slot, const PolymorphicValue& other) {
    if (slot.is<StructHandle>() && other.is<int64_t>()) {
      slot.as<StructHandle>()["x"] = other;
    }
  }

  std::mt19937_64 random_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::shared_ptr<int>> deaths_;
  Values slots_;
};

TEST(ValuesCounts, LongRandomSequencesLeaveNoReferenceBehind) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(seed);
    RandomOperations operations(seed);
    for (int i = 0; i < 20000; ++i) {
      operations.step();
      if (i % 1000 == 0) {
        operations.expectCountsCover();
      }
    }
    operations.clear();
    operations.expectOnlyOurReferences();
  }
}

}  // namespace
}  // namespace meshfuse::testing
