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

}  // namespace
