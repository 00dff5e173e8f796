// Random numbers as a function of a seed, an offset and an element's index (Philox4x32-10: Salmon et al., SC11).
#pragma once

#include "device/logarithm.h"
#include "device/numbers.h"
#include "device/trigonometry.h"
#include "device/types.h"

namespace device {

// piece: Philox philox
/// Four words of random bits.
struct Philox {
  uint32 a;
  uint32 b;
  uint32 c;
  uint32 d;
};
/// The seed is the key, the offset the counter's lower half, the index its upper half.
MESHFUSE_DEVICE Philox philox(uint64 seed, uint64 offset, uint64 index) {
  Philox x = {uint32(offset), uint32(offset >> 32), uint32(index), uint32(index >> 32)};
  uint32 key0 = uint32(seed);
  uint32 key1 = uint32(seed >> 32);
  for (int32 i = 0; i < 10; ++i) {
    const uint64 first = uint64(x.a) * 0xd2511f53u;
    const uint64 second = uint64(x.c) * 0xcd9e8d57u;
    x = {uint32(second >> 32) ^ x.b ^ key0, uint32(second), uint32(first >> 32) ^ x.d ^ key1,
         uint32(first)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return x;
}

// piece: UnitPair unitPair
/// Two numbers in [0, 1): of 24 bits each, or of 53.
template <class T>
struct UnitPair {
  T first;
  T second;
};
template <class T>
MESHFUSE_DEVICE UnitPair<T> unitPair(uint64 seed, uint64 offset, uint64 index) {
  const Philox x = philox(seed, offset, index);
  if constexpr (isSame<T, float>) {
    return {float(int32(x.a >> 8)) * 0x1p-24F, float(int32(x.b >> 8)) * 0x1p-24F};
  } else {
    const uint64 first = (uint64(x.a) << 32 | x.b) >> 11;
    const uint64 second = (uint64(x.c) << 32 | x.d) >> 11;
    return {double(int64(first)) * 0x1p-53, double(int64(second)) * 0x1p-53};
  }
}

// piece: uniform
/// Between low and high, which rounding may reach; `below` takes that away.
template <class T>
MESHFUSE_DEVICE T uniform(uint64 seed, uint64 offset, uint64 index, T low, T high) {
  return low + unitPair<T>(seed, offset, index).first * (high - low);
}

// piece: below
/// `x` if it is less than `high`, both rounded to the result's type, else `limit`: the greatest number of that type below the exact
/// bound.
template <class T>
MESHFUSE_DEVICE T below(T x, T high, T limit) {
  return x >= high ? limit : x;
}

// piece: normal
/// Box and Muller's method.
template <class T>
MESHFUSE_DEVICE T normal(uint64 seed, uint64 offset, uint64 index, T mean, T deviation) {
  const UnitPair<T> pair = unitPair<T>(seed, offset, index);
  const T radius = sqrt(T(-2) * log(T(1) - pair.first));
  return mean + deviation * radius * cos(T(0x1.921fb54442d18p+2) * pair.second);
}

}  // namespace device
