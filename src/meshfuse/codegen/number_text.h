// Element types and numbers in generated text.
#pragma once

#include <string>
#include <string_view>

#include "meshfuse/mesh/placement.h"
#include "meshfuse/types/data_type.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// The device text's type of an element in memory, `bfloat16`.
std::string_view storageTypeOf(PrimType type);
/// The type that it is computed in: float for types of fewer bits, which have no arithmetic of their own.
std::string_view registerTypeOf(PrimType type);

/// A number as C++ writes it, exactly.
std::string numberLiteral(const Scalar& value);

/// What folding begins with, in the register type of `type`.
std::string foldIdentity(ReduceKind fold, PrimType type);

}  // namespace meshfuse
