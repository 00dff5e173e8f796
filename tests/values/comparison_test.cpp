// Equality, order, sameness, hash and text of values.
#include "meshfuse/values/comparison.h"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <unordered_map>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/value_hash.h"
#include "meshfuse/values/value_print.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kNotConvertible = "Result is dynamic but not convertible to result type";

TEST(Values, A02_NullsAreEqual) {
  const PolymorphicValue a;
  const PolymorphicValue b;
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a != b);
  EXPECT_TRUE(a <= b);
  EXPECT_TRUE(a >= b);
  EXPECT_FALSE(a < b);
  EXPECT_FALSE(a > b);
}

template <class A, class B>
void checkComparisons(A a, B b) {
  const PolymorphicValue x = a;
  const PolymorphicValue y = b;
  static_assert(std::is_same_v<decltype(x == y), bool> && std::is_same_v<decltype(x < b), bool>);
  EXPECT_EQ(x == y, a == b);
  EXPECT_EQ(x != b, a != b);
  EXPECT_EQ(a < y, a < b);
  EXPECT_EQ(x > y, a > b);
  EXPECT_EQ(x <= b, a <= b);
  EXPECT_EQ(a >= y, a >= b);
}

TEST(Values, A12_ComparisonByValueAcrossKinds) {
  checkComparisons(int64_t{2}, 2.0);
  checkComparisons(int64_t{2}, 2.5);
  checkComparisons(true, int64_t{1});
  checkComparisons(0.0, false);
  checkComparisons(int64_t{-3}, -3.5);
  checkComparisons(kNan, kNan);
  checkComparisons(kNan, int64_t{1});
  checkComparisons(int64_t{1}, kNan);
  checkComparisons(std::numeric_limits<double>::infinity(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(PolymorphicValue(Complex(2, 0)), PolymorphicValue(2));
  EXPECT_NE(PolymorphicValue(Complex(2, 1)), PolymorphicValue(2.0));
  EXPECT_THROW((void)(PolymorphicValue(Complex(2, 0)) < PolymorphicValue(2)), UserError);
}

TEST(Values, A12_LargeIntegersAreNotRounded) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_NE(PolymorphicValue(odd), PolymorphicValue(static_cast<double>(odd)));
  EXPECT_GT(PolymorphicValue(odd), PolymorphicValue(static_cast<double>(odd)));
  EXPECT_LT(PolymorphicValue(std::numeric_limits<int64_t>::max()), PolymorphicValue(0x1p63));
  EXPECT_EQ(PolymorphicValue(std::numeric_limits<int64_t>::min()), PolymorphicValue(-0x1p63));
}

TEST(Values, A12_VectorsElementByElement) {
  const PolymorphicValue ints = Values{1, 2, 3};
  EXPECT_EQ(ints, PolymorphicValue(std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_NE(ints, PolymorphicValue(Values{1, 2}));
  EXPECT_LT(ints, PolymorphicValue(Values{1, 2.5}));
  EXPECT_GT(ints, PolymorphicValue(Values{1, 2}));
  EXPECT_LE(ints, PolymorphicValue(Values{true, 2, 3.0}));
  EXPECT_EQ(PolymorphicValue(Values{Values{1}, Values{}}),
            PolymorphicValue(Values{Values{1.0}, Values{}}));
}

TEST(Values, A12_OneElementTensorsCompareAsNumbers) {
  EXPECT_EQ(PolymorphicValue(at::full({1}, 2.5)), PolymorphicValue(2.5));
  EXPECT_LT(PolymorphicValue(1), PolymorphicValue(at::full({}, 2, at::kLong)));
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Type,
                             [] { return PolymorphicValue(at::ones({2})) == PolymorphicValue(1); }),
               kNotConvertible);
  EXPECT_THROW((void)(PolymorphicValue(evenTensor()) == PolymorphicValue(evenTensor())), UserError);
}

TEST(Values, A13_NamedComparisonsGiveValues) {
  static_assert(std::is_same_v<decltype(eq(1, 2)), PolymorphicValue>);
  EXPECT_TRUE(eq(2, 2.0).as<bool>());
  EXPECT_FALSE(ne(2, 2.0).as<bool>());
  EXPECT_TRUE(lt(1, 2).as<bool>());
  EXPECT_FALSE(gt(1, 2).as<bool>());
  EXPECT_TRUE(le(2, 2).as<bool>());
  EXPECT_TRUE(ge(2, 2).as<bool>());
  const at::Tensor a = at::arange(4);
  const PolymorphicValue x = a;
  const at::Tensor b = at::full({4}, 2);
  const PolymorphicValue y = b;
  EXPECT_TRUE(at::equal(eq(x, 2).asTensor(), a == 2));
  EXPECT_TRUE(at::equal(ne(x, y).asTensor(), a != b));
  EXPECT_TRUE(at::equal(lt(x, 1.5).asTensor(), a < 1.5));
  EXPECT_TRUE(at::equal(gt(2, x).asTensor(), a < 2));
  EXPECT_TRUE(at::equal(le(x, y).asTensor(), a <= b));
  EXPECT_TRUE(at::equal(ge(x, y).asTensor(), a >= b));
  EXPECT_THROW(eq(PolymorphicValue(), 1), UserError);
}

TEST(Values, B01_OpaqueEquality) {
  EXPECT_EQ(PolymorphicValue(Opaque::of(1)), PolymorphicValue(Opaque::of(1)));
  EXPECT_NE(PolymorphicValue(Opaque::of(1)), PolymorphicValue(Opaque::of(2)));
  EXPECT_NE(PolymorphicValue(Opaque::of(1)), PolymorphicValue(Opaque::of(1.0)));
  struct Plain {
    int a;
    int b;
  };
  EXPECT_EQ(Opaque::of(Plain{1, 2}), Opaque::of(Plain{1, 2}));
  EXPECT_FALSE(Opaque::of(Plain{1, 2}) == Opaque::of(Plain{1, 3}));
  const Opaque pointer = Opaque::of(std::make_unique<int>(3));
  EXPECT_EQ(pointer, Opaque(pointer));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { (void)Opaque::of(1).as<double>(); }),
               "held int, asked for double");
}

TEST(Values, B02_OpaqueTextAndBytes) {
  const Opaque opaque = Opaque::of(int32_t{0x01020304});
  EXPECT_EQ(toText(opaque), "Opaque<int>");
  ASSERT_EQ(opaque.bytes().size(), 4U);
  int32_t back = 0;
  std::memcpy(&back, opaque.bytes().data(), 4);
  EXPECT_EQ(back, 0x01020304);
}

TEST(Values, B06_StructEquality) {
  EXPECT_EQ(PolymorphicValue(structA(1, 2.0)), PolymorphicValue(structA(1, 2.0)));
  EXPECT_NE(PolymorphicValue(structA(1, 2.0)), PolymorphicValue(structA(1, 2.5)));
  EXPECT_EQ(PolymorphicValue(structA(1, kNan)), PolymorphicValue(structA(1, kNan)));
  const auto make = [](StructType type) {
    StructHandle handle(std::move(type));
    handle["x"] = 1;
    return PolymorphicValue(handle);
  };
  const PolymorphicValue base =
      make({"S", {{"x", PrimType::Int, true}, {"y", PrimType::Int, true}}});
  EXPECT_NE(base, make({"T", {{"x", PrimType::Int, true}, {"y", PrimType::Int, true}}}));
  EXPECT_NE(base, make({"S", {{"y", PrimType::Int, true}, {"x", PrimType::Int, true}}}));
  EXPECT_NE(base, make({"S", {{"x", PrimType::Int, true}, {"y", PrimType::Int32, true}}}));
  const StructType outer{"Outer", {{"inner", DataType(structA(0, 0)->type()), true}}};
  StructHandle a(outer);
  StructHandle b(outer);
  a["inner"] = structA(1, kNan);
  b["inner"] = structA(1, kNan);
  EXPECT_EQ(PolymorphicValue(a), PolymorphicValue(b));
  b["inner"] = structA(2, kNan);
  EXPECT_NE(PolymorphicValue(a), PolymorphicValue(b));
}

TEST(Values, B08_SameIsStricterThanEqual) {
  EXPECT_FALSE(isSame(2, 2.0));
  EXPECT_TRUE(isSame(2, 2));
  EXPECT_TRUE(isSame(kNan, -kNan));
  EXPECT_TRUE(isSame(Complex(1, kNan), Complex(kNan, 2)));
  EXPECT_FALSE(isSame(Complex(1, kNan), kNan));
  EXPECT_TRUE(isSame(PolymorphicValue(), PolymorphicValue()));
  EXPECT_FALSE(isSame(PolymorphicValue(), 0));
  const at::Tensor tensor = at::ones({2});
  EXPECT_TRUE(isSame(tensor, tensor));
  EXPECT_FALSE(isSame(tensor, tensor.clone()));
  EXPECT_TRUE(isSame(Values{1, kNan}, Values{1, kNan}));
  EXPECT_FALSE(isSame(Values{1, 2}, Values{1, 2.0}));
  EXPECT_FALSE(isSame(Values{1}, Values{1, 2}));
  EXPECT_FALSE(isSame(Pointer(nullptr, 8U), Pointer(nullptr, 16U)));
  const DistributedTensor even(tensor, rowsOver(2));
  EXPECT_TRUE(isSame(even, DistributedTensor(tensor, rowsOver(2))));
  EXPECT_FALSE(isSame(even, DistributedTensor(tensor, rowsOver(3))));
  const auto uneven = [&](int64_t size) {
    return DistributedTensor(tensor, rowsOver(2), std::vector<int64_t>{size},
                             std::vector<int64_t>{1});
  };
  EXPECT_TRUE(isSame(uneven(3), uneven(3)));
  EXPECT_FALSE(isSame(uneven(3), uneven(4)));
  const Values all = oneOfEach();
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(isSame(all[i], all[j]), i == j) << i << " " << j;
    }
  }
}

TEST(Values, B08_SameNanSensitiveIsEqualityWithNan) {
  EXPECT_TRUE(isSameNanSensitive(2, 2.0));
  EXPECT_TRUE(isSameNanSensitive(kNan, kNan));
  EXPECT_TRUE(isSameNanSensitive(Complex(kNan, 1), kNan));
  EXPECT_FALSE(isSameNanSensitive(kNan, 1.0));
  EXPECT_TRUE(isSameNanSensitive(Values{kNan, 1}, Values{kNan, 1.0}));
  EXPECT_FALSE(isSameNanSensitive(PolymorphicValue(), 1));
  EXPECT_FALSE(isSameNanSensitive(Values{1}, 1));
  EXPECT_TRUE(isSameNanSensitive(at::full({}, kNan), kNan));
  EXPECT_FALSE(isSameNanSensitive(at::ones({2}), at::ones({2})));
}

template <class T>
concept HasStdHash = requires(const T& v) { std::hash<T>()(v); };

TEST(Values, A23_EqualNumbersAreOneKey) {
  static_assert(!HasStdHash<PolymorphicValue>);
  std::unordered_map<PolymorphicValue, int, ValueHash, ValueEqual> map;
  map[false] = 1;
  map[0] = 2;
  map[0.0] = 3;
  map[-0.0] = 4;
  map[Complex(0, 0)] = 5;
  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(map.at(false), 5);
  map[kNan] = 6;
  EXPECT_EQ(map.at(-kNan), 6);
  map[PolymorphicValue()] = 7;
  EXPECT_EQ(map.size(), 3U);
}

TEST(Values, A23_HashAgreesWithEqualityOnRandomNumbers) {
  std::mt19937_64 random(7);
  const auto number = [&]() -> PolymorphicValue {
    const auto word = static_cast<int64_t>(random());
    switch (random() % 6) {
      case 0:
        return word % 3;
      case 1:
        return static_cast<double>(word % 5) / 2;
      case 2:
        return word % 2 == 0;
      case 3:
        return Complex(static_cast<double>(word % 3), static_cast<double>(word % 2));
      case 4:
        return word;
      default:
        return static_cast<double>(word);
    }
  };
  for (int i = 0; i < 100000; ++i) {
    const PolymorphicValue a = number();
    const PolymorphicValue b = number();
    if (a == b) {
      ASSERT_EQ(hashOf(a), hashOf(b)) << toText(a) << " " << toText(b);
    }
  }
}

TEST(Values, B09_Hash) {
  EXPECT_EQ(hashOf(PolymorphicValue()), 0U);
  EXPECT_EQ(hashOf(kNan), hashOf(-kNan));
  EXPECT_NE(hashOf(Complex(1, 2)), hashOf(Complex(1, 3)));
  EXPECT_NE(hashOf(Complex(1, 2)), hashOf(Complex(2, 2)));
  const Values all = oneOfEach();
  for (const PolymorphicValue& value : all) {
    if (value.kind() >= ValueKind::Tensor) {
      EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { (void)hashOf(value); }),
                   "only numbers and None can be hashed: a " + std::string(nameOf(value.kind())));
    }
  }
}

std::string streamed(const PolymorphicValue& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Values, A22_Printing) {
  EXPECT_EQ(streamed(true), "1");
  EXPECT_EQ(streamed(3), "3");
  EXPECT_EQ(streamed(2.718281828), "2.71828");
  EXPECT_EQ(streamed(Complex(1, -2)), "(1,-2)");
  EXPECT_EQ(streamed(Values{1, 2.5, Values{}}), "{1, 2.5, {}}");
  EXPECT_EQ(streamed(at::ones({2, 3})), "Tensor(Float, [2, 3], cpu)");
  EXPECT_EQ(streamed(evenTensor()), "DistributedTensor(Float, [4, 3], DeviceMesh{0 1} cpu (S(0)))");
  EXPECT_EQ(streamed(unevenTensor()),
            "DistributedTensor(Float, [5, 3], DeviceMesh{0 1} cpu (S(0)))");
  EXPECT_EQ(streamed(Pointer(nullptr, 32U)), "Pointer<32 bits>(0)");
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { streamed(PolymorphicValue()); }),
               "Can not print");
}

TEST(Values, B07_StructText) {
  EXPECT_EQ(toText(structA(2788, 2.718281828)), "StructHandle<A>{x=2788, y=2.71828}");
  EXPECT_EQ(toText(PolymorphicValue()), "std::monostate");
  EXPECT_EQ(toText(StructHandle(structA(0, 0)->type())),
            "StructHandle<A>{x=std::monostate, y=std::monostate}");
}

}  // namespace
}  // namespace meshfuse::testing
