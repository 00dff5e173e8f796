// The functions of device/ against the C library at a higher precision. Compiled with the flags of generated code.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/error_function.h"
#include "device/exponential.h"
#include "device/logarithm.h"
#include "device/numbers.h"
#include "device/trigonometry.h"

namespace {

/// The bits of floats are tried in steps of this: eleven million operands.
constexpr uint64_t kStep = 389;
constexpr size_t kBlock = 4096;
constexpr double kUlps = 4.0;

/// What a sweep over operands has found.
struct Found {
  double ulps = 0.0;
  double at = 0.0;
  int64_t special = 0;
  double specialAt = 0.0;
};

/// Counts a result that is not as exact as it must be: a NaN, an infinity, a zero of either sign.
template <class T, class Reference>
void compare(Found& found, T x, T result, Reference exact) {
  const T rounded = static_cast<T>(exact);
  const bool isSpecial = !std::isfinite(rounded) || rounded == T(0);
  if (isSpecial || !std::isfinite(result)) {
    const bool same = std::isnan(rounded)
                          ? std::isnan(result)
                          : rounded == result && std::signbit(rounded) == std::signbit(result);
    // The greatest number and infinity, like the least and zero, may stand for each other at the border.
    const bool isBorder = std::abs(result) == std::numeric_limits<T>::max() ||
                          std::abs(rounded) == std::numeric_limits<T>::max() ||
                          (std::abs(result) <= std::numeric_limits<T>::denorm_min() &&
                           std::abs(rounded) <= std::numeric_limits<T>::denorm_min());
    if (!same && !isBorder) {
      ++found.special;
      found.specialAt = static_cast<double>(x);
    }
    return;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent - std::numeric_limits<T>::digits,
                            std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  const double ulps =
      static_cast<double>(std::abs(std::ldexp(static_cast<Reference>(result) - exact, -last)));
  if (ulps > found.ulps) {
    found.ulps = ulps;
    found.at = static_cast<double>(x);
  }
}

template <class T, class Function, class Reference>
void sweep(Found& found, const std::vector<T>& operands, Function function, Reference reference) {
  static T results[kBlock];
  for (size_t begin = 0; begin < operands.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, operands.size() - begin);
    const T* x = operands.data() + begin;
#pragma omp simd
    for (size_t i = 0; i < size; ++i) {
      results[i] = function(x[i]);
    }
    for (size_t i = 0; i < size; ++i) {
      compare(found, x[i], results[i], reference(x[i]));
    }
  }
}

template <class Function, class Reference>
void checkFloat(const std::string& name, Function function, Reference reference,
                double bound = kUlps) {
  Found found;
  std::vector<float> operands(kBlock);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
    size_t size = 0;
    for (; size < kBlock && bits < uint64_t{1} << 32; bits += kStep) {
      operands[size++] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    }
    operands.resize(size);
    sweep(found, operands, function, [&](float x) { return reference(static_cast<double>(x)); });
  }
  std::printf("%-12s float   %.2f ulp at %g\n", name.c_str(), found.ulps, found.at);
  EXPECT_LE(found.ulps, bound) << name << " at " << found.at;
  EXPECT_EQ(found.special, 0) << name << " at " << found.specialAt;
}

/// Operands of all magnitudes, and more of those where functions are not trivial.
std::vector<double> doubleOperands() {
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> near(-2.0, 2.0);
  std::uniform_real_distribution<double> far(-760.0, 760.0);
  std::vector<double> operands = {0.0, -0.0, 1.0,  -1.0, INFINITY, -INFINITY,
                                  NAN, 0.5,  -0.5, 2.0,  5e-324,   -5e-324};
  for (int i = 0; i < 300000; ++i) {
    operands.push_back(std::bit_cast<double>(bits()));
    operands.push_back(near(bits));
    operands.push_back(far(bits));
    operands.push_back(8.0 * near(bits));
    operands.push_back(1.0 + near(bits) * 1e-3);
  }
  return operands;
}

template <class Function, class Reference>
void checkDouble(const std::string& name, Function function, Reference reference,
                 double bound = kUlps) {
  static const std::vector<double> operands = doubleOperands();
  Found found;
  sweep(found, operands, function,
        [&](double x) { return reference(static_cast<long double>(x)); });
  std::printf("%-12s double  %.2f ulp at %g\n", name.c_str(), found.ulps, found.at);
  EXPECT_LE(found.ulps, bound) << name << " at " << found.at;
  EXPECT_EQ(found.special, 0) << name << " at " << found.specialAt;
}

#define CHECK_BOTH(name)                                                                        \
  TEST(Accuracy, name) {                                                                        \
    checkFloat(                                                                                 \
        #name, [](float x) { return device::name(x); }, [](double x) { return std::name(x); }); \
    checkDouble(                                                                                \
        #name, [](double x) { return device::name(x); },                                        \
        [](long double x) { return std::name(x); });                                            \
  }
CHECK_BOTH(acos)
CHECK_BOTH(acosh)
CHECK_BOTH(asin)
CHECK_BOTH(asinh)
CHECK_BOTH(atan)
CHECK_BOTH(atanh)
CHECK_BOTH(cos)
CHECK_BOTH(cosh)
CHECK_BOTH(erf)
CHECK_BOTH(erfc)
CHECK_BOTH(exp)
CHECK_BOTH(exp2)
CHECK_BOTH(expm1)
CHECK_BOTH(log)
CHECK_BOTH(log10)
CHECK_BOTH(log1p)
CHECK_BOTH(log2)
CHECK_BOTH(sin)
CHECK_BOTH(sinh)
CHECK_BOTH(tan)
CHECK_BOTH(tanh)
#undef CHECK_BOTH

/// Pairs of the numbers that have rules of their own, then random ones.
template <class Function, class Reference>
void checkPairs(const std::string& name, Function function, Reference reference) {
  const std::vector<float> special = {0.0F,   -0.0F,   1.0F,     -1.0F,     2.0F,  -2.0F,
                                      3.0F,   -3.0F,   0.5F,     -0.5F,     1e30F, -1e30F,
                                      1e-40F, -1e-40F, INFINITY, -INFINITY, NAN};
  std::mt19937 bits(9);
  std::uniform_real_distribution<float> base(-3.0F, 60.0F);
  std::uniform_real_distribution<float> other(-30.0F, 30.0F);
  std::vector<float> x;
  std::vector<float> y;
  for (const float first : special) {
    for (const float second : special) {
      x.push_back(first);
      y.push_back(second);
    }
  }
  for (int i = 0; i < 5000000; ++i) {
    x.push_back(base(bits));
    y.push_back(i % 8 == 0 ? std::rint(other(bits)) : other(bits));
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits())));
    y.push_back(other(bits));
  }
  Found found;
  std::vector<float> results(x.size());
#pragma omp simd
  for (size_t i = 0; i < x.size(); ++i) {
    results[i] = function(x[i], y[i]);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    compare(found, x[i], results[i], reference(double{x[i]}, double{y[i]}));
  }
  std::printf("%-12s float   %.2f ulp at %g\n", name.c_str(), found.ulps, found.at);
  EXPECT_LE(found.ulps, kUlps) << name << " at " << found.at;
  EXPECT_EQ(found.special, 0) << name << " at " << found.specialAt;
}

TEST(Accuracy, pow) {
  checkPairs(
      "pow", [](float x, float y) { return device::power(x, y); },
      [](double x, double y) { return std::pow(x, y); });
}

TEST(Accuracy, atan2) {
  checkPairs(
      "atan2", [](float x, float y) { return device::atan2(x, y); },
      [](double x, double y) { return std::atan2(x, y); });
}

TEST(Accuracy, rsqrt) {
  checkFloat(
      "rsqrt", [](float x) { return 1.0F / device::sqrt(x); },
      [](double x) { return 1.0 / std::sqrt(x); });
}

/// The error function of the result, which is steep where its inverse is flat, gives the operand back.
TEST(Accuracy, erfinv) {
  std::mt19937 bits(10);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int i = 0; i < 100000; ++i) {
    const double x = unit(bits);
    const long double y = device::erfinv(x);
    const long double slope = 1.128379167095512573896L * std::exp(-y * y);
    const long double error =
        (std::abs(x) < 0.5 ? std::erf(y) - x
                           : (x < 0 ? -1 : 1) * (1.0L - std::abs(static_cast<long double>(x)) -
                                                 std::erfc(std::abs(y)))) /
        slope;
    ASSERT_LE(std::abs(error / y), 4 * 0x1p-52) << x;
    const double q = std::exp2(-1000.0 * std::abs(x));
    const long double z = device::erfcinv(q);
    const long double tail = (std::erfc(z) - q) / (1.128379167095512573896L * std::exp(-z * z));
    ASSERT_LE(std::abs(tail / z), 4 * 0x1p-52) << q;
  }
}

}  // namespace
