// Whether a call's arguments are what a definition declares; errors in the language's words.
#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/arg_view.h"

namespace meshfuse {

/// Throws UserError(Runtime) unless there is one argument for every input.
void checkCount(const Fusion& fusion, size_t argCount);

/// Throws UserError(Runtime) naming the first argument that does not fit its input: tensor or number, dtype, rank, extents,
/// broadcasts, contiguity, kind of number. The count fits.
void checkInputs(const Fusion& fusion, std::span<const ArgView> args);

/// Throws UserError(Runtime) unless all tensors are on one device (0-dim CPU tensors may be beside any), all are distributed
/// or none, and distributed ones lie over one mesh.
void checkTogether(const Fusion& fusion, std::span<const ArgView> args);

/// Throws UserError(Value) unless every distributed tensor's local part has the sizes that its placements give the process at
/// row-major position `rank` of the mesh.
void checkLocalSizes(const Fusion& fusion, std::span<const ArgView> args, int64_t rank);

/// Throws UserError(Runtime) for a tensor that carries a tangent of forward-mode differentiation, which results would lose.
void checkTangent(const at::Tensor& tensor, size_t position);

/// `input 2, tv1,`
std::string inputName(const Fusion& fusion, size_t position);

}  // namespace meshfuse
