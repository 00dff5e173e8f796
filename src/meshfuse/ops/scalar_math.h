// The functions that the device column of pointwise.def calls, for numbers on the host.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>

#include "meshfuse/base/error.h"

namespace meshfuse::scalar_math {

using std::erf;
using std::exp;
using std::sqrt;
using std::tanh;

template <class T>
  requires std::floating_point<T> || std::integral<T>
T relu(T x) {
  return x <= T(0) ? T(0) : x;
}

template <std::signed_integral T>
T divide(T x, T y) {
  if (y == T(0)) {
    throwUser(ErrorKind::Value, {"div", "the divisor of an integer division is not zero",
                                 "got a constant zero divisor", "divide by a non-zero number"});
  }
  // The most negative number divided by -1 wraps, as the tensor operation does.
  return y == T(-1) ? static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(x)) : x / y;
}

template <std::floating_point T>
T divide(T x, T y) {
  return x / y;
}

template <class T>
std::complex<T> divide(std::complex<T> x, std::complex<T> y) {
  return x / y;
}

}  // namespace meshfuse::scalar_math
