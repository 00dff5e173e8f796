// Numbers in generated text.
#pragma once

#include <string>

#include "meshfuse/mesh/placement.h"
#include "meshfuse/types/data_type.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// A number as C++ writes it, exactly.
std::string numberLiteral(const Scalar& value);

/// What folding begins with, in the register type of `type`.
std::string foldIdentity(ReduceKind fold, PrimType type);

}  // namespace meshfuse
