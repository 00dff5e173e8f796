// Other forms of a fusion: the same inputs and calls, and the same ids of values.
#pragma once

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// The same inputs, calls, outputs and writes with every floating type replaced by Double and every complex type by
/// ComplexDouble. Throws UserError where an op takes no such type.
Fusion inDouble(const Fusion& fusion);

/// The same program with its writes turned into outputs, after the others: it leaves its inputs as they are.
Fusion withoutWrites(const Fusion& fusion);

}  // namespace meshfuse
