// Takes out of a fusion what its results do not need.
#pragma once

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// `fusion`, whose extents are constants and whose shardings are settled, without calls that no result needs, calls that are made
/// twice with the same operands, casts to the type that is there, views that show what they are of, and calls whose operands are
/// constants. Inputs and results stay, in their order, and so do the names of values. Every result has the numbers and the strides
/// that the evaluator gives it in `fusion`, and memory of its own where it had; no error comes or goes. So these are kept:
/// random draws and changes of placement that anything needs; rounding, by a cast through a narrower type as well; a division
/// by zero. Of tensors only truth values and 64-bit integers are computed here.
Fusion clean(const Fusion& fusion);

}  // namespace meshfuse
