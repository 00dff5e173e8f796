// What products of scaled matrices share: their checks, and the numbers beside the matrices.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// Where the arguments that follow the scales are, in a call of a scaled product: alpha, bias, beta, dtype,
/// output_block_scale_size, output_block_scale_dtype, output_gamma.
struct ScaledArgs {
  size_t alpha;
  size_t bias() const noexcept { return alpha + 1; }
  size_t beta() const noexcept { return alpha + 2; }
  size_t dtype() const noexcept { return alpha + 3; }
  size_t blockScaleSize() const noexcept { return alpha + 4; }
  size_t gamma() const noexcept { return alpha + 6; }
};

/// Those parameters, with the language's defaults.
std::vector<Param> scaledParams();

/// Refuses matrices and scales of types that have no scaled product, results other than Float, Half and BFloat16, and asking
/// for scales of the result; UserError(Runtime).
void checkScaledProduct(std::string_view op, const Fusion& fusion, const std::vector<Arg>& args,
                        std::span<const size_t> matrices, std::span<const size_t> scales,
                        ScaledArgs rest);

/// The place of an argument among the call's tensor operands; nullopt for one that is no tensor.
std::optional<size_t> operandOf(const OpCall& call, size_t arg);

}  // namespace meshfuse
