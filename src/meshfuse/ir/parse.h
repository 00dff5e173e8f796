// Reads the text that print.h writes.
#pragma once

#include <functional>
#include <string_view>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Finds an operation by name; null if there is none.
using OpLookup = std::function<const OpDescriptor*(std::string_view)>;

/// Throws UserError(Value) naming the line and what was expected. print(parse(print(f))) == print(f).
Fusion parse(std::string_view text, const OpLookup& findOp);

}  // namespace meshfuse
