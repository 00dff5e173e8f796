#include <tuple>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/block_scales_eval.h"

namespace meshfuse::ops::nv_block_quantize {

namespace {

constexpr int64_t kBlock = 32;
constexpr double kLargest = 448;  // of Float8_e4m3fn
constexpr int64_t kBias = 127;    // of Float8_e8m0fnu, whose 255 is NaN

/// The bits of the least power of two that is not below each number: the first and the last for what is beyond them.
at::Tensor powerAbove(const at::Tensor& numbers) {
  const auto [fraction, exponent] = at::frexp(numbers);
  // A power of two is one half times the next.
  const at::Tensor bits = exponent - at::eq(fraction, 0.5).to(at::kInt) + kBias;
  const at::Tensor inside = at::where(at::eq(numbers, 0), 0, at::clamp(bits, 0, 2 * kBias));
  return at::where(at::isnan(numbers), 2 * kBias + 1,
                   at::where(at::isinf(numbers), 2 * kBias, inside));
}

}  // namespace

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  if (std::get<PrimType>(call.expr->args[4]) == PrimType::Float4_e2m1fn) {
    auto [values, scales] =
        quantizeToFloat4(call.tensor(0), call.has(1) ? call.tensor(1) : at::Tensor());
    const bool isTiled = std::get<Scalar>(call.expr->args[2]).toBool();
    return {std::move(values), isTiled ? inTiles(scales) : std::move(scales)};
  }
  const at::Tensor input = call.tensor(0).to(at::kFloat);
  const at::Tensor blocks = input.unflatten(-1, {input.size(-1) / kBlock, kBlock});
  const at::Tensor power = powerAbove(at::amax(at::abs(blocks), -1) / kLargest);
  const at::Tensor divided = at::ldexp(blocks, kBias - power.unsqueeze(-1));
  return {at::clamp(divided, -kLargest, kLargest).flatten(-2).to(at::kFloat8_e4m3fn),
          power.to(at::kByte).view(at::kFloat8_e8m0fnu)};
}

}  // namespace meshfuse::ops::nv_block_quantize
