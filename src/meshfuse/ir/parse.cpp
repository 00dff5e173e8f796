#include "meshfuse/ir/parse.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse_types.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ir/text_cursor.h"

namespace meshfuse {

namespace {

using Type = std::variant<TensorType, ScalarType>;

struct Declaration {
  std::string name;
  Type type;
};

class Parser {
 public:
  explicit Parser(const OpLookup& findOp) : findOp_(findOp) {}

  void parseLine(TextCursor cursor) {
    if (cursor.accept("output")) {
      parseOutput(cursor);
    } else if (cursor.accept("input")) {
      parseInput(cursor);
    } else if (cursor.accept("value") || cursor.accept("constant")) {
      parseFreeValue(cursor);
    } else if (cursor.accept("symbol")) {
      parseSymbolSource(cursor);
    } else {
      parseCall(cursor);
    }
    if (!cursor.atEnd()) {
      cursor.fail("the end of the line");
    }
  }

  Fusion finish() {
    std::map<uint32_t, SymbolSource> bound = symbolsBoundByDeclarations(fusion_);
    for (const auto& [symbol, source] : sources_) {
      bound[symbol] = source;
    }
    for (const auto& [symbol, line] : firstMention_) {
      if (!bound.contains(symbol)) {
        refuseSymbol(line, symbol, "which nothing binds");
      }
    }
    std::vector<SymbolSource> sources;
    for (const auto& [symbol, source] : bound) {
      if (symbol != sources.size()) {
        refuseSymbol(firstMention_[symbol], symbol,
                     "but no i" + std::to_string(sources.size()) + " is bound");
      }
      sources.push_back(source);
    }
    fusion_.setSymbols(std::move(sources));
    return std::move(fusion_);
  }

 private:
  [[noreturn]] static void refuseSymbol(size_t line, uint32_t symbol, const std::string& what) {
    throwUser(ErrorKind::Value,
              {"parse", "expected symbols that are numbered from i0 and bound by a value",
               "line " + std::to_string(line) + " has i" + std::to_string(symbol) + ", " + what,
               "bind it by an input's size or by a line such as 'symbol i0 = tv0[0]'"});
  }

  Declaration parseDeclaration(TextCursor& cursor) {
    std::string name(
        cursor.word("the name of a value, such as tv0, or input, value, constant, "
                    "symbol or output"));
    cursor.expect(":");
    Type type = parseType(cursor, [&](SymbolId symbol) {
      firstMention_.try_emplace(indexOf(symbol), cursor.lineNumber());
    });
    return {std::move(name), std::move(type)};
  }

  /// Makes `id`, just added to the fusion, what the text declares.
  void name(TextCursor& cursor, ValId id, const Declaration& declaration) {
    std::string expected = fusion_.nameOf(id);
    if (declaration.name != expected) {
      cursor.fail("the name '" + expected + "' instead of '" + declaration.name + "' before this");
    }
    if (const ScalarType* scalar = std::get_if<ScalarType>(&declaration.type)) {
      std::get<ScalarType>(fusion_.val(id).type).symbol = scalar->symbol;
    }
    values_.emplace(std::move(expected), id);
  }

  ValId addFreeValue(TextCursor& cursor, Declaration declaration) {
    ScalarType* scalar = std::get_if<ScalarType>(&declaration.type);
    if (scalar != nullptr && cursor.accept("=")) {
      scalar->constant = cursor.scalar();
    }
    ValId id = scalar != nullptr ? fusion_.addScalar(scalar->dtype, scalar->constant)
                                 : fusion_.addTensor(std::get<TensorType>(declaration.type));
    name(cursor, id, declaration);
    return id;
  }

  ValId parseValue(TextCursor& cursor) {
    auto found = values_.find(cursor.peekWord());
    if (found == values_.end()) {
      cursor.fail("the name of a value defined above");
    }
    cursor.word("a value");
    return found->second;
  }

  void parseFreeValue(TextCursor& cursor) { addFreeValue(cursor, parseDeclaration(cursor)); }

  void parseInput(TextCursor& cursor) {
    bool isDeclaredAbove = values_.contains(cursor.peekWord());
    ValId id =
        isDeclaredAbove ? parseValue(cursor) : addFreeValue(cursor, parseDeclaration(cursor));
    if (fusion_.isInput(id)) {
      cursor.fail("each input once; '" + fusion_.nameOf(id) + "' before this is one already");
    }
    fusion_.addInput(id);
  }

  void parseOutput(TextCursor& cursor) {
    ValId id = parseValue(cursor);
    if (!fusion_.val(id).isTensor()) {
      cursor.fail("a tensor before this; '" + fusion_.nameOf(id) + "' is a scalar");
    }
    if (!cursor.accept("into")) {
      fusion_.addOutput(id);
      return;
    }
    if (fusion_.val(id).definition == kNoExpr) {
      cursor.fail("a value that a call gives before this; '" + fusion_.nameOf(id) + "' is none");
    }
    fusion_.addWrite(id, parseValue(cursor));
  }

  void parseSymbolSource(TextCursor& cursor) {
    SymbolId symbol = parseSymbol(cursor);
    firstMention_.try_emplace(indexOf(symbol), cursor.lineNumber());
    cursor.expect("=");
    SymbolSource source{.val = parseValue(cursor)};
    if (cursor.accept("[")) {
      source.dim = cursor.integer();
      cursor.expect("]");
    }
    sources_[indexOf(symbol)] = source;
  }

  Arg parseArg(TextCursor& cursor) {
    std::string_view word = cursor.peekWord();
    if (values_.contains(word)) {
      return parseValue(cursor);
    }
    if (cursor.accept("None")) {
      return {};
    }
    if (std::optional<PrimType> type = primTypeFromName(word)) {
      cursor.word("an element type");
      return *type;
    }
    if (cursor.accept("[")) {
      return parseList(cursor);
    }
    bool isNumber =
        word.empty() || word == "True" || word == "False" || word == "float" || word == "complex";
    if (!isNumber) {
      cursor.fail("an argument: a value defined above, a number, a list, an element type or None");
    }
    return cursor.scalar();
  }

  /// Up to the closing bracket.
  Arg parseList(TextCursor& cursor) {
    Items items;
    bool holdsValues = false;
    while (!cursor.accept("]")) {
      if (!items.empty()) {
        cursor.expect(",");
      }
      if (values_.contains(cursor.peekWord())) {
        items.emplace_back(parseValue(cursor));
        holdsValues = true;
      } else {
        items.emplace_back(cursor.integer());
      }
    }
    if (holdsValues) {
      return items;
    }
    Ints ints;
    for (const Item& item : items) {
      ints.push_back(std::get<int64_t>(item));
    }
    return ints;
  }

  std::vector<Arg> parseArgs(TextCursor& cursor, const OpDescriptor& op) {
    std::vector<Arg> out;
    cursor.expect("(");
    while (!cursor.accept(")")) {
      if (!out.empty()) {
        cursor.expect(",");
      }
      out.push_back(parseArg(cursor));
    }
    if (out.size() != op.params.size()) {
      cursor.fail(std::to_string(op.params.size()) + " arguments for '" + std::string(op.name) +
                  "' instead of " + std::to_string(out.size()) + " before this");
    }
    return out;
  }

  const OpDescriptor& parseOp(TextCursor& cursor) {
    const OpDescriptor* op = findOp_(cursor.peekWord());
    if (op == nullptr) {
      cursor.fail("the name of an operation");
    }
    cursor.word("an operation");
    return *op;
  }

  /// Appends the call; its outputs get the declared types.
  ExprId addCall(TextCursor& cursor, const OpDescriptor& op, std::vector<Arg> args,
                 std::span<const Declaration> outputs) {
    if (outputs.size() == 1 && op.outputCount == 1) {
      if (const ScalarType* scalar = std::get_if<ScalarType>(&outputs[0].type)) {
        return fusion_.addScalarExpr(op, std::move(args), scalar->dtype);
      }
    }
    std::vector<TensorType> types;
    for (const Declaration& output : outputs) {
      if (const TensorType* type = std::get_if<TensorType>(&output.type)) {
        types.push_back(*type);
      }
    }
    if (outputs.size() != op.outputCount || types.size() != op.outputCount) {
      cursor.fail(std::to_string(op.outputCount) + " outputs of '" + std::string(op.name) +
                  "' that are tensors, or one scalar, in this line");
    }
    return fusion_.addExpr(op, std::move(args), std::move(types));
  }

  void parseCall(TextCursor& cursor) {
    std::vector<Declaration> outputs;
    do {
      outputs.push_back(parseDeclaration(cursor));
    } while (cursor.accept(","));
    cursor.expect("=");
    const OpDescriptor& op = parseOp(cursor);
    std::vector<Arg> args = parseArgs(cursor, op);
    ExprId id = addCall(cursor, op, std::move(args), outputs);
    std::vector<ValId> ids = fusion_.expr(id).outputs;
    for (size_t i = 0; i < ids.size(); ++i) {
      name(cursor, ids[i], outputs[i]);
    }
  }

  const OpLookup& findOp_;
  Fusion fusion_;
  std::map<std::string, ValId, std::less<>> values_;
  std::map<uint32_t, SymbolSource> sources_;  // from lines of their own
  std::map<uint32_t, size_t> firstMention_;   // the line
};

}  // namespace

Fusion parse(std::string_view text, const OpLookup& findOp) {
  Parser parser(findOp);
  for (size_t lineNumber = 1; !text.empty(); ++lineNumber) {
    size_t length = std::min(text.find('\n'), text.size());
    TextCursor cursor(text.substr(0, length), lineNumber);
    if (!cursor.atEnd()) {
      parser.parseLine(cursor);
    }
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return parser.finish();
}

}  // namespace meshfuse
