// Which calls of an operation loops compute, and which only the library, which checks what is known in a call.
#pragma once

#include "meshfuse/ir/fusion.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

/// The number that an argument is, where it is known.
std::optional<Scalar> constantOf(const Fusion& fusion, const Arg& arg);

/// Whether loops give what the library gives for this call of an operation of that form, errors included.
bool loopsCompute(const Fusion& fusion, const Expr& expr, const LoopForm& form);

}  // namespace meshfuse
