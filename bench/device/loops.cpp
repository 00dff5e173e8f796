#include "device/loops.h"

#include <cmath>

#include "device/convert.h"
#include "device/error_function.h"
#include "device/exponential.h"
#include "device/logarithm.h"
#include "device/trigonometry.h"

namespace meshfuse {

namespace {

float librarySigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
float librarySilu(float x) { return x / (1.0F + std::exp(-x)); }

template <float (*function)(float)>
void overFloats(float* __restrict to, const float* __restrict from, int64_t size) {
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) {
    to[i] = function(from[i]);
  }
}

template <float (*function)(float)>
void overBFloat16s(uint16_t* __restrict to, const uint16_t* __restrict from, int64_t size) {
#pragma omp simd
  for (int64_t i = 0; i < size; ++i) {
    const device::bfloat16 x = {from[i]};
    to[i] = device::convert<device::bfloat16>(function(device::convert<float>(x))).bits;
  }
}

template <float (*own)(float), float (*library)(float)>
constexpr ArrayFunction entry(const char* name) {
  return {name, overFloats<own>, overBFloat16s<own>, overFloats<library>};
}

}  // namespace

const ArrayFunction arrayFunctions[kArrayFunctions] = {
    entry<device::exp, std::exp>("exp"),
    entry<device::tanh, std::tanh>("tanh"),
    entry<device::erf, std::erf>("erf"),
    entry<device::log, std::log>("log"),
    entry<device::log1p, std::log1p>("log1p"),
    entry<device::sigmoid<float>, librarySigmoid>("sigmoid"),
    entry<device::silu<float>, librarySilu>("silu"),
    entry<device::sin, std::sin>("sin"),
    entry<device::atan, std::atan>("atan"),
};

}  // namespace meshfuse
