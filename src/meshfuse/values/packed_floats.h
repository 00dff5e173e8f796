// Packed 4-bit floats: torch keeps two in a byte; while a program computes, each has an element of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// The torch dtype that elements have while a program computes: that of the type, and for Float4_e2m1fn, of which torch has pairs
/// alone, Float8_e4m3fn, which has each of its numbers.
at::ScalarType heldDtype(PrimType type);

/// The numbers of a float4_e2m1fn_x2 tensor as held ones, twice as many in `dim`: a byte's lower four bits are the first of two.
at::Tensor unpackFloat4(const at::Tensor& packed, int64_t dim);

/// Held 4-bit floats as a float4_e2m1fn_x2 tensor, half as many in `dim`, of which there is an even number.
at::Tensor packFloat4(const at::Tensor& held, int64_t dim);

/// The nearest 4-bit floats, held; the even one of two that are as near, 6 for what is beyond it and for NaN, as conversions in
/// hardware give.
at::Tensor roundToFloat4(const at::Tensor& numbers);

}  // namespace meshfuse
