#include "meshfuse/evaluator/pointwise_functions.h"

#include <cmath>

#include <ATen/ATen.h>

namespace meshfuse::pointwise_functions {

namespace {

bool isBool(const at::Tensor& x) { return x.scalar_type() == at::kBool; }
bool isWhole(const at::Tensor& x) {
  return at::isIntegralType(x.scalar_type(), /*includeBool=*/false);
}

/// The divisor without the -1 that traps, for operations whose result by 1 is the one by -1.
at::Tensor withoutMinusOne(const at::Tensor& divisor) {
  return at::where(at::eq(divisor, -1), at::ones({}, divisor.options()), divisor);
}

}  // namespace

at::Tensor absoluteOf(const at::Tensor& x) { return isBool(x) ? at::clone(x) : at::abs(x); }

at::Tensor fractionOf(const at::Tensor& x) {
  return isBool(x) || isWhole(x) ? at::zeros_like(x) : at::frac(x);
}

at::Tensor realPartOf(const at::Tensor& x) { return at::clone(x.is_complex() ? at::real(x) : x); }

at::Tensor inverseErfcOf(const at::Tensor& x) {
  return at::special_ndtri(at::mul(x, 0.5)).mul_(-M_SQRT1_2);
}

at::Tensor differenceOf(const at::Tensor& x0, const at::Tensor& x1) {
  return isBool(x0) ? at::logical_xor(x0, x1) : at::sub(x0, x1);
}

at::Tensor negativeOf(const at::Tensor& x) { return isBool(x) ? at::clone(x) : at::neg(x); }

at::Tensor quotientOf(const at::Tensor& x0, const at::Tensor& x1) {
  if (!isWhole(x0)) {
    return at::div(x0, x1);
  }
  return at::where(at::eq(x1, -1), at::neg(x0), at::div(x0, withoutMinusOne(x1), "trunc"));
}

at::Tensor modulusOf(const at::Tensor& x0, const at::Tensor& x1) {
  return at::fmod(x0, isWhole(x0) ? withoutMinusOne(x1) : x1);
}

at::Tensor remainderOf(const at::Tensor& x0, const at::Tensor& x1) {
  return at::remainder(x0, isWhole(x0) ? withoutMinusOne(x1) : x1);
}

at::Tensor powerOf(const at::Tensor& x0, const at::Tensor& x1) {
  return isBool(x0) ? at::logical_or(x0, at::logical_not(x1)) : at::pow(x0, x1);
}

at::Tensor logicalRightShiftOf(const at::Tensor& x0, const at::Tensor& x1) {
  const bool isLong = x0.scalar_type() == at::kLong;
  const at::Scalar positive =
      isLong ? at::Scalar(INT64_MAX) : at::Scalar(static_cast<int64_t>(INT32_MAX));
  // The first step clears the sign; the rest are arithmetic shifts of a number that is not negative.
  const at::Tensor halved = at::bitwise_and(at::bitwise_right_shift(x0, 1), positive);
  const at::Tensor shifted = at::bitwise_right_shift(halved, at::sub(x1, 1).clamp_min_(0));
  const at::Tensor moves = at::logical_and(at::ge(x1, 0), at::lt(x1, isLong ? 64 : 32));
  return at::where(at::eq(x1, 0), x0, at::where(moves, shifted, at::zeros({}, x0.options())));
}

at::Tensor interpolationOf(const at::Tensor& x0, const at::Tensor& x1, const at::Tensor& x2) {
  if (isWhole(x0)) {
    return at::add(x0, at::mul(x2, at::sub(x1, x0)));
  }
  return at::lerp(x0, x1, x2);
}

}  // namespace meshfuse::pointwise_functions
