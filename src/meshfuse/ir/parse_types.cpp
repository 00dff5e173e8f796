#include "meshfuse/ir/parse_types.h"

#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"

namespace meshfuse {

namespace {

/// Parentheses and signs nest no deeper than this, so that no text exhausts the stack.
constexpr int kDeepest = 256;

class IntExprReader {
 public:
  IntExprReader(TextCursor& cursor, const SymbolMention& mention)
      : cursor_(cursor), mention_(mention) {}

  IntExpr sum(int depth) {
    IntExpr out = product(depth);
    while (true) {
      if (cursor_.accept("+")) {
        out = out + product(depth);
      } else if (cursor_.accept("-")) {
        out = out - product(depth);
      } else {
        return out;
      }
    }
  }

  /// A number, a symbol or a sum in parentheses.
  IntExpr primary(int depth) {
    if (depth > kDeepest) {
      cursor_.fail("an expression of at most " + std::to_string(kDeepest) + " nested parentheses");
    }
    if (cursor_.accept("(")) {
      IntExpr out = sum(depth + 1);
      cursor_.expect(")");
      return out;
    }
    char next = cursor_.peek();
    if (next >= '0' && next <= '9') {
      return cursor_.integer();
    }
    SymbolId symbol = parseSymbol(cursor_);
    mention_(symbol);
    return IntExpr::symbol(symbol);
  }

 private:
  IntExpr product(int depth) {
    IntExpr out = factor(depth);
    while (true) {
      if (cursor_.accept("*")) {
        out = out * factor(depth);
      } else if (cursor_.accept("/")) {
        out = floorDiv(out, divisor(depth));
      } else if (cursor_.accept("%")) {
        out = floorMod(out, divisor(depth));
      } else {
        return out;
      }
    }
  }

  IntExpr divisor(int depth) {
    IntExpr out = factor(depth);
    if (out == IntExpr(0)) {
      cursor_.fail("a divisor other than 0");
    }
    return out;
  }

  IntExpr factor(int depth) {
    if (!cursor_.accept("-")) {
      return primary(depth);
    }
    constexpr std::string_view lowest = "9223372036854775808";
    if (cursor_.accept(lowest)) {
      return std::numeric_limits<int64_t>::min();
    }
    return IntExpr(0) - primary(depth + 1);
  }

  TextCursor& cursor_;
  const SymbolMention& mention_;
};

IterDomain parseDomain(TextCursor& cursor, const SymbolMention& mention) {
  std::string_view word = cursor.peekWord();
  if (!word.starts_with('b')) {
    return IterDomain::iteration(parseIntExpr(cursor, mention));
  }
  cursor.word("b");
  if (word == "b") {
    return IterDomain::expanded(IntExprReader(cursor, mention).primary(0));
  }
  int64_t extent = 0;
  const char* end = word.data() + word.size();
  auto [stop, error] = std::from_chars(word.data() + 1, end, extent);
  if (error != std::errc() || stop != end) {
    cursor.fail("an extent after 'b', as in b1 or b(i0), before this");
  }
  return IterDomain::expanded(extent);
}

Contiguity parseContiguity(TextCursor& cursor) {
  Contiguity out;
  cursor.expect("(");
  while (!cursor.accept(")")) {
    if (!out.empty()) {
      cursor.expect(",");
    }
    if (cursor.accept("n")) {
      out.emplace_back(std::nullopt);
    } else if (cursor.accept("t")) {
      out.emplace_back(true);
    } else if (cursor.accept("f")) {
      out.emplace_back(false);
    } else {
      cursor.fail("t, f or n");
    }
  }
  return out;
}

TensorType parseTensor(TextCursor& cursor, PrimType dtype, const SymbolMention& mention) {
  TensorType type{.dtype = dtype};
  while (!cursor.accept("]")) {
    if (!type.domain.empty()) {
      cursor.expect(",");
    }
    type.domain.push_back(parseDomain(cursor, mention));
  }
  if (cursor.accept("@")) {
    type.sharding = parseSharding(cursor);
  }
  if (cursor.accept("contiguity")) {
    type.contiguity = parseContiguity(cursor);
  }
  if (cursor.accept("stride_order")) {
    cursor.expect("(");
    type.strideOrder = parseInts(cursor, ")");
  }
  type.isCpuScalar = cursor.accept("cpu");
  return type;
}

}  // namespace

std::vector<int64_t> parseInts(TextCursor& cursor, std::string_view close) {
  std::vector<int64_t> out;
  while (!cursor.accept(close)) {
    if (!out.empty()) {
      cursor.expect(",");
    }
    out.push_back(cursor.integer());
  }
  return out;
}

SymbolId parseSymbol(TextCursor& cursor) {
  std::string_view word = cursor.peekWord();
  uint32_t number = 0;
  const char* end = word.data() + word.size();
  if (!word.starts_with('i') || std::from_chars(word.data() + 1, end, number).ptr != end ||
      word.size() < 2) {
    cursor.fail("a number or a symbol such as i0");
  }
  cursor.word("a symbol");
  return SymbolId{number};
}

IntExpr parseIntExpr(TextCursor& cursor, const SymbolMention& mention) {
  try {
    return IntExprReader(cursor, mention).sum(0);
  } catch (const UserError& error) {
    if (std::string_view(error.what()).starts_with("parse: ")) {
      throw;
    }
    cursor.fail(std::string("a legal expression before this (") + error.what() + ")");
  }
}

std::variant<TensorType, ScalarType> parseType(TextCursor& cursor, const SymbolMention& mention) {
  std::optional<PrimType> dtype = primTypeFromName(cursor.peekWord());
  if (!dtype) {
    cursor.fail("an element type such as Float");
  }
  cursor.word("an element type");
  if (cursor.accept("[")) {
    return parseTensor(cursor, *dtype, mention);
  }
  ScalarType type{.dtype = *dtype};
  if (cursor.peekWord().starts_with('i')) {
    type.symbol = parseSymbol(cursor);
    mention(*type.symbol);
  }
  return type;
}

}  // namespace meshfuse
