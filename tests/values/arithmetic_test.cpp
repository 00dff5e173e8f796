// Operators on values, against what C++ and torch give for the plain operands.
#include "meshfuse/values/arithmetic.h"

#include <cmath>
#include <functional>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/comparison.h"
#include "meshfuse/values/value_print.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr const char* kNotConvertible = "Result is dynamic but not convertible to result type";

/// The value holds exactly what C++ computes from the plain operands: bool results are Bool, int is Int.
template <class T>
void expectHolds(const PolymorphicValue& value, T plain) {
  using Held = std::conditional_t<std::is_same_v<T, int>, int64_t, T>;
  ASSERT_TRUE(value.is<Held>()) << toText(value);
  EXPECT_EQ(value.as<Held>(), static_cast<Held>(plain));
}

template <class A, class B>
void checkArithmetic(A a, B b) {
  const PolymorphicValue x = a;
  const PolymorphicValue y = b;
  // dynamic with dynamic, dynamic with plain, plain with dynamic
  for (const PolymorphicValue& sum : {x + y, x + b, a + y}) {
    expectHolds(sum, a + b);
  }
  for (const PolymorphicValue& difference : {x - y, x - b, a - y}) {
    expectHolds(difference, a - b);
  }
  for (const PolymorphicValue& product : {x * y, x * b, a * y}) {
    expectHolds(product, a * b);
  }
  for (const PolymorphicValue& quotient : {x / y, x / b, a / y}) {
    expectHolds(quotient, a / b);
  }
  for (const PolymorphicValue& both : {x && y, x && b, a && y}) {
    expectHolds(both, a && b);
  }
  for (const PolymorphicValue& either : {x || y, x || b, a || y}) {
    expectHolds(either, a || b);
  }
}

TEST(Values, A07_A08_ArithmeticAsCpp) {
  checkArithmetic(int64_t{7}, int64_t{3});
  checkArithmetic(int64_t{7}, 2.5);
  checkArithmetic(2.5, int64_t{-3});
  checkArithmetic(2.5, 0.5);
  checkArithmetic(true, int64_t{3});
  checkArithmetic(int64_t{0}, true);
  checkArithmetic(true, true);
  checkArithmetic(0.0, true);
  expectHolds(PolymorphicValue(Complex(1, 2)) * PolymorphicValue(3), Complex(3, 6));
  expectHolds(2.0 - PolymorphicValue(Complex(1, 2)), Complex(1, -2));
}

template <class A, class B>
void checkIntegers(A a, B b) {
  const PolymorphicValue x = a;
  const PolymorphicValue y = b;
  const auto wide = static_cast<int64_t>(a);
  expectHolds(x % y, wide % b);
  expectHolds(x & b, wide & b);
  expectHolds(a | y, wide | b);
  expectHolds(x ^ y, wide ^ b);
  expectHolds(x << y, wide << b);
  expectHolds(x >> y, wide >> b);
}

TEST(Values, A09_IntegerOperators) {
  checkIntegers(int64_t{37}, int64_t{5});
  checkIntegers(true, int64_t{3});
  checkIntegers(int64_t{37}, true);
  checkIntegers(true, true);
  const Values others = {2.5, Complex(1, 0), PolymorphicValue(), Values{1}};
  for (const PolymorphicValue& other : others) {
    for (const auto& operation : std::initializer_list<std::function<PolymorphicValue()>>{
             [&] { return PolymorphicValue(3) % other; },
             [&] { return other & PolymorphicValue(3); },
             [&] { return PolymorphicValue(3) | other; },
             [&] { return other ^ PolymorphicValue(3); },
             [&] { return PolymorphicValue(3) << other; },
             [&] { return other >> PolymorphicValue(3); }}) {
      EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, operation), kNotConvertible);
    }
  }
}

TEST(Values, A11_NullOperandThrows) {
  const Values pairs = {1, 2.5, true, Complex(1, 1), at::ones({2}), Values{1}};
  for (const PolymorphicValue& value : pairs) {
    EXPECT_PRED2(contains,
                 userErrorText(ErrorKind::Type, [&] { return PolymorphicValue() + value; }),
                 kNotConvertible);
    EXPECT_PRED2(contains,
                 userErrorText(ErrorKind::Type, [&] { return value * PolymorphicValue(); }),
                 kNotConvertible);
    EXPECT_PRED2(contains,
                 userErrorText(ErrorKind::Type, [&] { return value && PolymorphicValue(); }),
                 kNotConvertible);
    EXPECT_PRED2(contains,
                 userErrorText(ErrorKind::Type, [&] { return value == PolymorphicValue(); }),
                 kNotConvertible);
    EXPECT_PRED2(contains,
                 userErrorText(ErrorKind::Type, [&] { return PolymorphicValue() < value; }),
                 kNotConvertible);
  }
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { return PolymorphicValue() + 1; }),
            "+: Result is dynamic but not convertible to result type: a None and a Int; pass "
            "operands that the "
            "operation is defined for");
}

TEST(Values, A11_VectorWithNumberThrows) {
  const PolymorphicValue vector = Values{1, 2};
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { return vector + 1; }),
               "a Vector and a Int");
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { return vector == 1; }),
               kNotConvertible);
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { return 1.0 <= vector; }),
               kNotConvertible);
}

TEST(Values, A10_DistributedOperandIsRefusedWithTheWayOut) {
  EXPECT_EQ(userErrorText(ErrorKind::Type, [] { return PolymorphicValue(evenTensor()) + 1; }),
            "+: Result is dynamic but not convertible to result type: a DistributedTensor and a "
            "Int; compute it in "
            "a fusion, which knows the sharding, or use local()");
}

TEST(Values, A14_UnaryOperators) {
  expectHolds(+PolymorphicValue(3), 3);
  expectHolds(+PolymorphicValue(true), 1);
  expectHolds(-PolymorphicValue(3), -3);
  expectHolds(-PolymorphicValue(true), -1);
  expectHolds(-PolymorphicValue(2.5), -2.5);
  expectHolds(-PolymorphicValue(Complex(1, 2)), Complex(-1, -2));
  expectHolds(~PolymorphicValue(5), ~int64_t{5});
  expectHolds(~PolymorphicValue(true), ~int64_t{1});
  static_assert(std::is_same_v<decltype(!PolymorphicValue(1)), bool>);
  EXPECT_TRUE(!PolymorphicValue(0));
  EXPECT_FALSE(!PolymorphicValue(0.5));
  EXPECT_TRUE(!PolymorphicValue(at::zeros({1})));
  for (const PolymorphicValue& value : {PolymorphicValue(), PolymorphicValue(Values{1})}) {
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { +value; }), kNotConvertible);
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { -value; }), kNotConvertible);
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { ~value; }), kNotConvertible);
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { (void)!value; }), kNotConvertible);
  }
  EXPECT_THROW(~PolymorphicValue(2.5), UserError);
  EXPECT_THROW(!PolymorphicValue(at::ones({2})), UserError);
}

TEST(Values, A15_IncrementAndDecrement) {
  PolymorphicValue value = 3;
  EXPECT_EQ(&++value, &value);
  expectHolds(value, 4);
  expectHolds(value++, 4);
  expectHolds(value--, 5);
  EXPECT_EQ(&--value, &value);
  expectHolds(value, 3);
  PolymorphicValue real = 0.5;
  expectHolds(++real, 1.5);
  PolymorphicValue highest = kMax;
  expectHolds(++highest, kMin);
  for (PolymorphicValue other :
       {PolymorphicValue(), PolymorphicValue(true), PolymorphicValue(Values{1})}) {
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { ++other; }), "Cannot compute ");
    EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { other--; }), "Cannot compute ");
  }
}

TEST(Values, A16_CompoundAssignment) {
  PolymorphicValue value = 12;
  EXPECT_EQ(&(value += 3), &value);
  expectHolds(value, 15);
  expectHolds(value -= 5, 10);
  expectHolds(value *= 3, 30);
  expectHolds(value /= 4, 7);
  expectHolds(value %= 4, 3);
  expectHolds(value |= 8, 11);
  expectHolds(value &= 10, 10);
  expectHolds(value ^= 3, 9);
  expectHolds(value <<= 2, 36);
  expectHolds(value >>= 1, 18);
  expectHolds(value += 0.5, 18.5);
  expectHolds(value += value, 37.0);
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { value %= 2; }), kNotConvertible);
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [&] { value -= PolymorphicValue(); }),
               kNotConvertible);
  expectHolds(value, 37.0);
}

TEST(Values, B12_IntegerArithmeticWrapsAndTruncates) {
  expectHolds(-PolymorphicValue(7), -7);
  expectHolds(PolymorphicValue(-7) / 2, -3);
  expectHolds(PolymorphicValue(-7) % 2, -1);
  expectHolds(PolymorphicValue(kMax) + 1, kMin);
  expectHolds(PolymorphicValue(kMin) - 1, kMax);
  expectHolds(PolymorphicValue(kMax) * 2, int64_t{-2});
  expectHolds(-PolymorphicValue(kMin), kMin);
}

TEST(Values, IntegerDivisionNeverTraps) {
  EXPECT_EQ(userErrorText(ErrorKind::Value, [] { return PolymorphicValue(5) / 0; }),
            "/: the divisor of integers must not be zero: 5 by 0; test the divisor first, or "
            "divide Doubles");
  EXPECT_PRED2(contains,
               userErrorText(ErrorKind::Value, [] { return PolymorphicValue(5) % false; }),
               "%: the divisor");
  EXPECT_EQ(userErrorText(ErrorKind::Value, [] { return PolymorphicValue(kMin) / -1; }),
            "/: the quotient must fit 64 bits: -9223372036854775808 by -1; divide Doubles");
  expectHolds(PolymorphicValue(kMin) % -1, 0);
  EXPECT_TRUE(std::isinf((PolymorphicValue(5.0) / 0).as<double>()));
}

TEST(Values, ShiftsOutsideTheWidthAreDefined) {
  const at::Tensor minusFive = at::full({}, -5, at::kLong);
  for (const int64_t by : {int64_t{64}, int64_t{65}, int64_t{-1}, kMin, kMax}) {
    const at::Tensor amount = at::full({}, by, at::kLong);
    expectHolds(PolymorphicValue(-5) << by,
                at::bitwise_left_shift(minusFive, amount).item<int64_t>());
    expectHolds(PolymorphicValue(-5) >> by,
                at::bitwise_right_shift(minusFive, amount).item<int64_t>());
  }
  expectHolds(PolymorphicValue(-5) << 63, kMin);
  expectHolds(PolymorphicValue(-5) >> 63, -1);
}

void expectTensor(const PolymorphicValue& value, const at::Tensor& expected) {
  ASSERT_TRUE(value.is<at::Tensor>());
  EXPECT_EQ(value.asTensor().scalar_type(), expected.scalar_type());
  EXPECT_TRUE(at::equal(value.asTensor(), expected));
}

TEST(Values, A07_TensorsComputeAsTorch) {
  const at::Tensor a = at::arange(6, at::kFloat).reshape({2, 3}) + 1;
  const at::Tensor b = at::arange(3, at::kFloat) + 2;
  const PolymorphicValue x = a;
  expectTensor(x + PolymorphicValue(b), a + b);
  expectTensor(x - 2, a - 2);
  expectTensor(2 - x, at::rsub(a, 2));
  expectTensor(x * 2.5, a * 2.5);
  expectTensor(2.5 / x, at::full({}, 2.5F) / a);
  expectTensor(x + true, a + 1);
  expectTensor(-x, at::neg(a));
  const at::Tensor ints = at::arange(4, at::kInt);
  expectTensor(PolymorphicValue(ints) + 1, ints + 1);
  expectTensor(PolymorphicValue(ints) << 2, at::bitwise_left_shift(ints, 2));
  expectTensor(PolymorphicValue(ints) & 1, at::bitwise_and(ints, 1));
  expectTensor(~PolymorphicValue(ints), at::bitwise_not(ints));
  expectTensor(PolymorphicValue(ints) && true, at::logical_and(ints, at::ones({}, at::kBool)));
}

TEST(Values, WhatTorchRefusesIsAUserError) {
  const std::string text = userErrorText(ErrorKind::Value, [] {
    return PolymorphicValue(at::ones({2})) + PolymorphicValue(at::ones({3}));
  });
  EXPECT_PRED2(contains, text, "+: torch must accept the operands: ");
  EXPECT_PRED2(contains, text, "must match the size of tensor b");
}

TEST(Values, B10_PointerArithmetic) {
  std::array<double, 8> data{};
  const PolymorphicValue first = Pointer(data.data());
  EXPECT_EQ((first + 3).as<Pointer>().address(), data.data() + 3);
  EXPECT_EQ((3 + first).as<Pointer>().address(), data.data() + 3);
  EXPECT_EQ((first + 3 - 1).as<Pointer>().address(), data.data() + 2);
  expectHolds((first + 5) - first, 5);
  PolymorphicValue moving = first;
  ++moving;
  EXPECT_EQ(moving--.as<Pointer>().address(), data.data() + 1);
  EXPECT_EQ(moving, first);
  EXPECT_THROW(first * 2, UserError);
  EXPECT_THROW(first + 0.5, UserError);
}

TEST(Values, B10_PointerSteps) {
  std::array<std::byte, 8> data{};
  const Pointer nibbles(data.data(), 4U);
  EXPECT_EQ((nibbles + 6).address(), data.data() + 3);
  EXPECT_EQ((nibbles + 6) - nibbles, 6);
  EXPECT_EQ(userErrorText(ErrorKind::Value, [&] { return nibbles + 3; }),
            "pointer step: a step must end on a whole byte: 3 elements of 4 bits; step by a "
            "multiple of 8 bits");
  EXPECT_EQ(userErrorText(ErrorKind::Type, [&] { return Pointer(data.data(), 8U) - nibbles; }),
            "pointer difference: both pointers must have elements of one width: 8 and 4 bits; "
            "convert one pointer "
            "to the other's element width");
  EXPECT_EQ(nibbles, Pointer(data.data(), 32U));
  EXPECT_LT(nibbles, nibbles + 2);
  EXPECT_TRUE(Pointer().isNull());
  EXPECT_TRUE(!PolymorphicValue(Pointer()));
}

}  // namespace
}  // namespace meshfuse::testing
