// Functions of complex numbers: the C library's, and what it lacks. None of them vectorizes.
#pragma once

#include "device/exponential.h"
#include "device/logarithm.h"
#include "device/numbers.h"
#include "device/trigonometry.h"
#include "device/types.h"

namespace device {

// piece: toLibrary ofLibrary, for complex
MESHFUSE_DEVICE _Complex float toLibrary(complex<float> x) {
  _Complex float result;
  __real__ result = x.real();
  __imag__ result = x.imag();
  return result;
}
MESHFUSE_DEVICE _Complex double toLibrary(complex<double> x) {
  _Complex double result;
  __real__ result = x.real();
  __imag__ result = x.imag();
  return result;
}
MESHFUSE_DEVICE complex<float> ofLibrary(_Complex float x) { return {__real__ x, __imag__ x}; }
MESHFUSE_DEVICE complex<double> ofLibrary(_Complex double x) { return {__real__ x, __imag__ x}; }

// piece: acos, for complex
static inline complex<float> acos(complex<float> x) {
  return ofLibrary(__builtin_cacosf(toLibrary(x)));
}
static inline complex<double> acos(complex<double> x) {
  return ofLibrary(__builtin_cacos(toLibrary(x)));
}

// piece: acosh, for complex
static inline complex<float> acosh(complex<float> x) {
  return ofLibrary(__builtin_cacoshf(toLibrary(x)));
}
static inline complex<double> acosh(complex<double> x) {
  return ofLibrary(__builtin_cacosh(toLibrary(x)));
}

// piece: asin, for complex
static inline complex<float> asin(complex<float> x) {
  return ofLibrary(__builtin_casinf(toLibrary(x)));
}
static inline complex<double> asin(complex<double> x) {
  return ofLibrary(__builtin_casin(toLibrary(x)));
}

// piece: asinh, for complex
static inline complex<float> asinh(complex<float> x) {
  return ofLibrary(__builtin_casinhf(toLibrary(x)));
}
static inline complex<double> asinh(complex<double> x) {
  return ofLibrary(__builtin_casinh(toLibrary(x)));
}

// piece: atan, for complex
static inline complex<float> atan(complex<float> x) {
  return ofLibrary(__builtin_catanf(toLibrary(x)));
}
static inline complex<double> atan(complex<double> x) {
  return ofLibrary(__builtin_catan(toLibrary(x)));
}

// piece: atanh, for complex
static inline complex<float> atanh(complex<float> x) {
  return ofLibrary(__builtin_catanhf(toLibrary(x)));
}
static inline complex<double> atanh(complex<double> x) {
  return ofLibrary(__builtin_catanh(toLibrary(x)));
}

// piece: cos, for complex
static inline complex<float> cos(complex<float> x) {
  return ofLibrary(__builtin_ccosf(toLibrary(x)));
}
static inline complex<double> cos(complex<double> x) {
  return ofLibrary(__builtin_ccos(toLibrary(x)));
}

// piece: cosh, for complex
static inline complex<float> cosh(complex<float> x) {
  return ofLibrary(__builtin_ccoshf(toLibrary(x)));
}
static inline complex<double> cosh(complex<double> x) {
  return ofLibrary(__builtin_ccosh(toLibrary(x)));
}

// piece: exp, for complex
static inline complex<float> exp(complex<float> x) {
  return ofLibrary(__builtin_cexpf(toLibrary(x)));
}
static inline complex<double> exp(complex<double> x) {
  return ofLibrary(__builtin_cexp(toLibrary(x)));
}

// piece: log, for complex
static inline complex<float> log(complex<float> x) {
  return ofLibrary(__builtin_clogf(toLibrary(x)));
}
static inline complex<double> log(complex<double> x) {
  return ofLibrary(__builtin_clog(toLibrary(x)));
}

// piece: sin, for complex
static inline complex<float> sin(complex<float> x) {
  return ofLibrary(__builtin_csinf(toLibrary(x)));
}
static inline complex<double> sin(complex<double> x) {
  return ofLibrary(__builtin_csin(toLibrary(x)));
}

// piece: sinh, for complex
static inline complex<float> sinh(complex<float> x) {
  return ofLibrary(__builtin_csinhf(toLibrary(x)));
}
static inline complex<double> sinh(complex<double> x) {
  return ofLibrary(__builtin_csinh(toLibrary(x)));
}

// piece: sqrt, for complex
static inline complex<float> sqrt(complex<float> x) {
  return ofLibrary(__builtin_csqrtf(toLibrary(x)));
}
static inline complex<double> sqrt(complex<double> x) {
  return ofLibrary(__builtin_csqrt(toLibrary(x)));
}

// piece: tan, for complex
static inline complex<float> tan(complex<float> x) {
  return ofLibrary(__builtin_ctanf(toLibrary(x)));
}
static inline complex<double> tan(complex<double> x) {
  return ofLibrary(__builtin_ctan(toLibrary(x)));
}

// piece: tanh, for complex
static inline complex<float> tanh(complex<float> x) {
  return ofLibrary(__builtin_ctanhf(toLibrary(x)));
}
static inline complex<double> tanh(complex<double> x) {
  return ofLibrary(__builtin_ctanh(toLibrary(x)));
}

// piece: power, for complex
static inline complex<float> power(complex<float> x, complex<float> y) {
  return ofLibrary(__builtin_cpowf(toLibrary(x), toLibrary(y)));
}
static inline complex<double> power(complex<double> x, complex<double> y) {
  return ofLibrary(__builtin_cpow(toLibrary(x), toLibrary(y)));
}

// piece: scaled, for complex
template <class T>
MESHFUSE_DEVICE complex<T> scaled(complex<T> x, T factor) {
  return {x.real() * factor, x.imag() * factor};
}

// piece: exp2, for complex
template <class T>
static inline complex<T> exp2(complex<T> x) {
  return exp(scaled(x, T(0x1.62e42fefa39efp-1)));
}

// piece: log2, for complex
template <class T>
static inline complex<T> log2(complex<T> x) {
  return scaled(log(x), T(0x1.71547652b82fep+0));
}

// piece: log10, for complex
template <class T>
static inline complex<T> log10(complex<T> x) {
  return scaled(log(x), T(0x1.bcb7b1526e50ep-2));
}

// piece: expm1, for complex
static inline complex<double> expm1(complex<double> x) {
  const double sine = __builtin_sin(0.5 * x.imag());
  const double re = __builtin_expm1(x.real()) * __builtin_cos(x.imag()) - 2.0 * sine * sine;
  return {re, __builtin_exp(x.real()) * __builtin_sin(x.imag())};
}
static inline complex<float> expm1(complex<float> x) {
  const complex<double> result = expm1(complex<double>(double(x.real()), double(x.imag())));
  return {float(result.real()), float(result.imag())};
}

// piece: log1p, for complex
static inline complex<double> log1p(complex<double> x) {
  const double angle = __builtin_atan2(x.imag(), x.real() + 1.0);
  if (__builtin_hypot(x.real(), x.imag()) < 0.5) {
    const double more = x.real() * (2.0 + x.real()) + x.imag() * x.imag();
    return {more == 0.0 ? x.real() : 0.5 * __builtin_log1p(more), angle};
  }
  return {__builtin_log(__builtin_hypot(x.real() + 1.0, x.imag())), angle};
}
static inline complex<float> log1p(complex<float> x) {
  const complex<double> result = log1p(complex<double>(double(x.real()), double(x.imag())));
  return {float(result.real()), float(result.imag())};
}

}  // namespace device
