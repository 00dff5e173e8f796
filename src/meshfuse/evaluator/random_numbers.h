// Random numbers as a function of a seed, an offset and an element's index: the same on every device, in every order of
// computing and whatever part of a tensor a rank computes.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse {

/// A stream of numbers: the key and the counter's upper half of Philox4x32-10 (Salmon et al., SC11); the lower half is the
/// index of the element.
struct RandomStream {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// A new seed, of 63 bits, from torch's default CPU generator, which advances.
uint64_t drawSeed();

/// Whether a call takes its seed from the generator.
bool needsSeed(const Expr& expr);

/// The stream that the call's arguments `seed` and `offset` name, or else one of the call's drawn seed.
RandomStream streamOf(const EvalCall& call, size_t seed, size_t offset);

/// Numbers in [low, high), never `high` itself, computed in float (double for Double) and rounded to `dtype`.
at::Tensor uniformNumbers(const RandomStream& stream, at::IntArrayRef sizes, double low,
                          double high, at::ScalarType dtype, c10::Device device);

/// Normally distributed numbers (Box and Muller's method).
at::Tensor normalNumbers(const RandomStream& stream, at::IntArrayRef sizes, double mean,
                         double deviation, at::ScalarType dtype, c10::Device device);

}  // namespace meshfuse
