#include "meshfuse/values/packed_floats.h"

#include <array>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/memory_order.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {

namespace {

/// The bits of 0.5 in Float8_e4m3fn. From 1, which is two steps of fractions further, 4-bit floats are four bits apart.
constexpr int64_t kHalf = 0x30;

/// The sign bit of a 4-bit float, moved to that of an 8-bit one.
at::Tensor signOf(const at::Tensor& codes) {
  return at::bitwise_left_shift(at::bitwise_and(codes, 8), 4);
}

/// Codes of four bits, a byte each, as held numbers.
at::Tensor heldOf(const at::Tensor& codes) {
  const at::Tensor magnitude = at::bitwise_and(codes, 7);
  const at::Tensor bits = at::mul(at::gt(magnitude, 0), kHalf).to(at::kByte) +
                          at::mul(magnitude, at::gt(magnitude, 1).to(at::kByte)) * 4;
  return at::bitwise_or(bits, signOf(codes)).view(at::kFloat8_e4m3fn);
}

at::Tensor codesOf(const at::Tensor& held) {
  const at::Tensor bits = held.view(at::kByte);
  const at::Tensor magnitude = at::bitwise_and(bits, 0x7f);
  const at::Tensor fromOne = at::bitwise_right_shift(at::clamp(magnitude, kHalf) - kHalf, 2);
  // 0.5 is one step before 1, and no multiple of four bits.
  const at::Tensor code = fromOne + at::eq(magnitude, kHalf).to(at::kByte);
  return at::bitwise_or(code, at::bitwise_right_shift(at::bitwise_and(bits, 0x80), 4));
}

/// Memory without gaps for `sizes`, dimensions in the order of `like`.
at::Tensor emptyLike(const at::Tensor& like, c10::IntArrayRef sizes) {
  const std::vector<int64_t> order =
      outermostFirst(std::span<const int64_t>(like.strides().data(), like.strides().size()));
  std::vector<int64_t> strides(sizes.size());
  int64_t next = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides[static_cast<size_t>(*dim)] = next;
    next *= std::max<int64_t>(sizes[static_cast<size_t>(*dim)], 1);
  }
  return at::empty_strided(sizes, strides, like.options());
}

}  // namespace

at::ScalarType heldDtype(PrimType type) {
  return type == PrimType::Float4_e2m1fn ? at::kFloat8_e4m3fn : torchDtype(type);
}

at::Tensor unpackFloat4(const at::Tensor& packed, int64_t dim) {
  const at::Tensor bytes = packed.view(at::kByte);
  std::vector<int64_t> sizes = bytes.sizes().vec();
  sizes[static_cast<size_t>(dim)] *= 2;
  const at::Tensor codes = emptyLike(bytes, sizes);
  codes.slice(dim, 0, std::nullopt, 2).copy_(at::bitwise_and(bytes, 15));
  codes.slice(dim, 1, std::nullopt, 2).copy_(at::bitwise_right_shift(bytes, 4));
  return heldOf(codes);
}

at::Tensor packFloat4(const at::Tensor& held, int64_t dim) {
  internalCheck(held.size(dim) % 2 == 0, "two 4-bit floats make a byte");
  const at::Tensor codes = codesOf(held);
  const at::Tensor high = codes.slice(dim, 1, std::nullopt, 2);
  return at::bitwise_or(codes.slice(dim, 0, std::nullopt, 2), at::bitwise_left_shift(high, 4))
      .view(at::ScalarType::Float4_e2m1fn_x2);
}

at::Tensor roundToFloat4(const at::Tensor& numbers) {
  // Half way between neighbours, and whether the upper one is even.
  constexpr std::array<std::pair<double, bool>, 7> kBorders{{{0.25, false},
                                                             {0.75, true},
                                                             {1.25, false},
                                                             {1.75, true},
                                                             {2.5, false},
                                                             {3.5, true},
                                                             {5.0, false}}};
  const at::Tensor wide = numbers.scalar_type() == at::kDouble ? numbers : numbers.to(at::kFloat);
  const at::Tensor magnitude = at::abs(wide);
  at::Tensor code = at::bitwise_left_shift(at::signbit(wide).to(at::kByte), 3);
  for (const auto& [border, isUpperEven] : kBorders) {
    code =
        code + (isUpperEven ? at::ge(magnitude, border) : at::gt(magnitude, border)).to(at::kByte);
  }
  return heldOf(at::where(at::isnan(wide), at::full_like(code, 7), code));
}

}  // namespace meshfuse
