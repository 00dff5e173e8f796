// How a reduction is put to a backend so that its result is right for every element type it takes.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "meshfuse/communication/group_state.h"
#include "meshfuse/mesh/placement.h"

namespace meshfuse {

/// Throws UserError(Value), naming type and kind, for a reduction that backends don't do and that has no exact detour.
void checkReducible(const OpText& op, at::ScalarType type, ReduceKind kind);

/// What the backend is asked to do for `kind`.
ReduceKind wireKind(ReduceKind kind);

/// A fresh contiguous tensor that the backend reduces with wireKind: the values, or
///  - floating max and min: integers in the same order, NaN at the end that wins. Backends drop a NaN or keep it depending on
///    where it stands; torch.maximum and torch.minimum always keep it.
///  - averages of half types: float32, so that the sum does not overflow
///  - complex: pairs of reals; bool: bytes
/// The leading dimensions are the tensor's.
at::Tensor toWire(const at::Tensor& tensor, ReduceKind kind);

/// The result for a reduced wire tensor: of the original type, contiguous. `count` ranks took part.
at::Tensor fromWire(const at::Tensor& wire, at::ScalarType type, ReduceKind kind, int64_t count);

}  // namespace meshfuse
