// The text of a fusion, one line a value, which parse.h reads back.
#pragma once

#include <string>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Example:
///   input tv0: Float[i0, 4] contiguity(t, t)
///   tv1: Float[i0, 4] = add(tv0, 1.0)
///   output tv1
std::string print(const Fusion& fusion);

/// One argument in the text form: `tv0`, `2.0`, `[0, 1]`, `True`, `Float`, `None`.
std::string printArg(const Fusion& fusion, const Arg& arg);

}  // namespace meshfuse
