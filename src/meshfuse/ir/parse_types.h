// Readers of the types in a fusion's text.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <variant>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/ir/text_cursor.h"

namespace meshfuse {

/// Called with every symbol that a type mentions.
using SymbolMention = std::function<void(SymbolId)>;

/// `0, 1` and the token `close` that ends the list.
std::vector<int64_t> parseInts(TextCursor& cursor, std::string_view close);
/// `i0`
SymbolId parseSymbol(TextCursor& cursor);
/// `i0*4 + 1`
IntExpr parseIntExpr(TextCursor& cursor, const SymbolMention& mention);
/// A tensor's or scalar's type with all that a declaration says of it (print.h).
std::variant<TensorType, ScalarType> parseType(TextCursor& cursor, const SymbolMention& mention);
/// `DeviceMesh{(0 1) (2 3)} cpu (S(0), R)`
ShardingId parseSharding(TextCursor& cursor);

}  // namespace meshfuse
