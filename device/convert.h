// Conversions between element types, as torch converts.
#pragma once

#include "device/types.h"

namespace device {

// piece: truncated
/// A float's whole part. Outside of To's range and for NaN it is what x86 gives: the least number; for unsigned numbers the
/// bits of the signed one.
template <class To, class From>
MESHFUSE_DEVICE To truncated(From x) {
  if constexpr (isSame<To, uint64>) {
    const bool isUpper = x >= From(0x1p63);
    const int64 rest = truncated<int64>(isUpper ? x - From(0x1p63) : x);
    return uint64(rest) ^ (isUpper ? uint64(1) << 63 : uint64(0));
  } else if constexpr (isSame<To, int64>) {
    const bool fits = (x >= From(-0x1p63)) & (x < From(0x1p63));
    return fits ? int64(x) : -0x7fffffffffffffff - 1;
  } else if constexpr (isSame<To, int32>) {
    const bool fits = (x > From(-0x1p31) - From(1)) & (x < From(0x1p31));
    return fits ? int32(x) : -0x7fffffff - 1;
  } else {
    return To(truncated<int32>(x));
  }
}

// piece: convert
/// The value of `x` in another element type: rounded to nearest even, NaN kept; a bool is whether it differs from zero; whole
/// numbers wrap; of a complex number the real part.
template <class To, class From>
MESHFUSE_DEVICE To convert(From x) {
  if constexpr (isSame<To, From>) {
    return x;
  } else if constexpr (isSame<From, boolean>) {
    return convert<To>(x.bits != 0);
  } else if constexpr (isSame<To, boolean>) {
    return {uint8(convert<bool>(x) ? 1 : 0)};
  } else if constexpr (isStored<From>) {
    return convert<To>(x.wide());
  } else if constexpr (isComplex<From> && isSame<To, bool>) {
    return (x.real() != 0) | (x.imag() != 0);
  } else if constexpr (isComplex<From> && isComplex<To>) {
    using Part = typename To::Part;
    return To(convert<Part>(x.real()), convert<Part>(x.imag()));
  } else if constexpr (isComplex<From>) {
    return convert<To>(x.real());
  } else if constexpr (isComplex<To>) {
    return To(convert<typename To::Part>(x));
  } else if constexpr (isStored<To>) {
    return To::of(convert<float>(x));
  } else if constexpr (isSame<To, bool>) {
    return x != From(0);
  } else if constexpr (isFloating<From> && !isFloating<To>) {
    return truncated<To>(x);
  } else {
    return To(x);
  }
}

}  // namespace device
