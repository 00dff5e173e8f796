// Functions of values, against the C++ library and torch.
#include "meshfuse/values/value_math.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "meshfuse/values/arithmetic.h"
#include "meshfuse/values/comparison.h"
#include "values/sample_values.h"
#include "values/user_error.h"

namespace meshfuse::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

void expectTensor(const PolymorphicValue& value, const at::Tensor& expected) {
  ASSERT_TRUE(value.is<at::Tensor>());
  EXPECT_EQ(value.asTensor().scalar_type(), expected.scalar_type());
  EXPECT_TRUE(at::allclose(value.asTensor(), expected, 1e-6, 1e-8, /*equal_nan=*/true));
}

TEST(Values, B11_CeilDiv) {
  EXPECT_TRUE(isSame(ceilDiv(10, 3), 4));
  EXPECT_TRUE(isSame(-ceilDiv(10, 3), -4));
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -7; b <= 7; ++b) {
      if (b == 0) {
        continue;
      }
      const auto expected =
          static_cast<int64_t>(std::ceil(static_cast<double>(a) / static_cast<double>(b)));
      EXPECT_TRUE(isSame(ceilDiv(a, b), expected)) << a << " " << b;
    }
  }
  EXPECT_TRUE(isSame(ceilDiv(10.0, 4), 3.0));
  EXPECT_TRUE(isSame(ceilDiv(kMin, 1), kMin));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Value, [] { ceilDiv(1, 0); }),
               "must not be zero: 1 by 0");
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Value, [] { ceilDiv(kMin, -1); }),
               "must fit 64 bits");
}

TEST(Values, B13_Ceil) {
  EXPECT_TRUE(isSame(ceil(3), 3));
  EXPECT_TRUE(isSame(ceil(true), true));
  EXPECT_TRUE(isSame(ceil(2.1), 3.0));
  EXPECT_TRUE(isSame(ceil(-2.1), -2.0));
  expectTensor(ceil(PolymorphicValue(at::full({2}, 2.1))), at::full({2}, 3.0));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { ceil(Complex(1, 2)); }), "ceil: ");
}

TEST(Values, B14_Signbit) {
  EXPECT_TRUE(isSame(signbit(-3), true));
  EXPECT_TRUE(isSame(signbit(0), false));
  EXPECT_TRUE(isSame(signbit(-0.0), true));
  EXPECT_TRUE(isSame(signbit(2.5), false));
  const at::Tensor tensor = at::arange(-2, 2);
  expectTensor(signbit(PolymorphicValue(tensor)), at::signbit(tensor));
}

TEST(Values, B15_Fmod) {
  EXPECT_TRUE(isSame(fmod(7, 4), 3.0));
  EXPECT_TRUE(isSame(fmod(-7, 4), -3.0));
  EXPECT_TRUE(isSame(fmod(7.5, -2), 1.5));
  EXPECT_TRUE(isSame(fmod(7, 2.5), 2.0));
  EXPECT_TRUE(std::isnan(fmod(7, 0).as<double>()));
  const at::Tensor tensor = at::arange(-4, 4, at::kFloat);
  expectTensor(fmod(PolymorphicValue(tensor), 3), at::fmod(tensor, 3));
  expectTensor(fmod(7.0, PolymorphicValue(tensor)),
               at::fmod(at::full({}, 7.0, at::kFloat), tensor));
}

TEST(Values, B16_Pow) {
  EXPECT_TRUE(isSame(pow(3, 4), 81));
  EXPECT_TRUE(isSame(pow(3, 0.5), std::pow(3, 0.5)));
  EXPECT_TRUE(isSame(pow(2.5, 2), 6.25));
  EXPECT_TRUE(isSame(pow(2.5, 0.5), std::pow(2.5, 0.5)));
  EXPECT_TRUE(isSame(pow(-2, 63), kMin));
  EXPECT_TRUE(isSame(pow(-1, -3), -1));
  EXPECT_TRUE(isSame(pow(5, -1), 0));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Value, [] { pow(0, -1); }), "0 to the power -1");
  const at::Tensor base = at::arange(-2, 3, at::kFloat);
  const at::Tensor exponent = at::full({5}, 0.5);
  expectTensor(pow(PolymorphicValue(base), 2), at::pow(base, 2));
  expectTensor(pow(PolymorphicValue(base), 2.5), at::pow(base, 2.5));
  expectTensor(pow(2, PolymorphicValue(base)), at::pow(2, base));
  expectTensor(pow(2.5, PolymorphicValue(base)), at::pow(2.5, base));
  const PolymorphicValue roots = pow(PolymorphicValue(base), PolymorphicValue(exponent));
  expectTensor(roots, at::pow(base, exponent));
  EXPECT_TRUE(std::isnan(roots.asTensor()[0].item<float>()));
}

TEST(Values, B17_WhereInAllEightMixes) {
  const at::Tensor holds = at::arange(4) < 2;
  const at::Tensor a = at::arange(4, at::kFloat);
  const at::Tensor b = -a - 1;
  const at::Tensor truth = at::ones({}, at::kBool);
  expectTensor(where(PolymorphicValue(holds), PolymorphicValue(a), PolymorphicValue(b)),
               at::where(holds, a, b));
  expectTensor(where(PolymorphicValue(holds), PolymorphicValue(a), 2.0), at::where(holds, a, 2.0));
  expectTensor(where(PolymorphicValue(holds), 2.0, PolymorphicValue(b)), at::where(holds, 2.0, b));
  expectTensor(where(PolymorphicValue(holds), 1.0, 2.0), at::where(holds, 1.0, 2.0));
  expectTensor(where(true, PolymorphicValue(a), PolymorphicValue(b)), at::where(truth, a, b));
  expectTensor(where(true, PolymorphicValue(a), 2.0), at::where(truth, a, 2.0));
  expectTensor(where(true, 2.0, PolymorphicValue(b)), at::where(truth, 2.0, b));
  EXPECT_TRUE(isSame(where(true, 1, 2), 1));
  EXPECT_TRUE(isSame(where(false, 1, 2.5), 2.5));
  EXPECT_TRUE(isSame(where(true, 1, 2.5), 1.0));
  EXPECT_TRUE(isSame(where(0, true, false), false));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { where(true, Values{}, 1); }),
               "where: ");
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { where(PolymorphicValue(), 1, 1); }),
               "a None");
}

TEST(Values, B18_MaxMinAndNan) {
  EXPECT_TRUE(isSame(max(1, 2), 2));
  EXPECT_TRUE(isSame(min(1, 2.5), 1.0));
  EXPECT_TRUE(isSame(max(kNan, 1), kNan));
  EXPECT_TRUE(isSame(min(kNan, 1), kNan));
  EXPECT_TRUE(isSame(max(1.0, kNan), kNan));
  EXPECT_TRUE(isSame(fmax(kNan, 1), 1.0));
  EXPECT_TRUE(isSame(fmin(kNan, 1), 1.0));
  EXPECT_TRUE(isSame(fmax(1.0, kNan), 1.0));
  EXPECT_TRUE(isSame(fmax(kNan, kNan), kNan));
  EXPECT_TRUE(isSame(fmin(2.0, 1.0), 1.0));
  const at::Tensor tensor = at::arange(3, at::kFloat);
  expectTensor(max(PolymorphicValue(tensor), 1), at::maximum(tensor, at::ones({})));
  expectTensor(fmin(PolymorphicValue(tensor), kNan), tensor);
  EXPECT_THROW(max(Complex(1, 2), 1), UserError);
}

TEST(Values, B19_AbsAndErf) {
  EXPECT_TRUE(isSame(abs(Complex(3, -4)), 5.0));
  EXPECT_TRUE(isSame(abs(true), true));
  EXPECT_TRUE(isSame(abs(-3), 3));
  EXPECT_TRUE(isSame(abs(kMin), kMin));
  EXPECT_TRUE(isSame(abs(-2.5), 2.5));
  const at::Tensor tensor = at::arange(-2, 2, at::kFloat);
  expectTensor(abs(PolymorphicValue(tensor)), at::abs(tensor));
  expectTensor(erf(PolymorphicValue(tensor)), at::erf(tensor));
  EXPECT_PRED2(contains, userErrorText(ErrorKind::Type, [] { erf(0.5); }), "erf: ");
}

}  // namespace
}  // namespace meshfuse::testing
