// Integer expressions over symbols: extents, offsets and strides that are known only at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/ir/ids.h"

namespace meshfuse {

/// A polynomial in symbols and quotients, kept in one canonical form, so that equal sums and products compare equal:
/// `(i0 + 1) * 2 == 2 * i0 + 2`. Values are immutable; copying shares the terms. Arithmetic that overflows int64 throws
/// UserError(Value).
class IntExpr {
 public:
  IntExpr() : IntExpr(0) {}
  IntExpr(int64_t constant);  // NOLINT(google-explicit-constructor): a constant is an expression
  static IntExpr symbol(SymbolId id);

  bool isConstant() const noexcept;
  /// The value of a constant expression; internal error otherwise.
  int64_t constant() const;
  std::optional<int64_t> asConstant() const noexcept;

  friend IntExpr operator+(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator-(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator*(const IntExpr& a, const IntExpr& b);
  /// Division that rounds towards minus infinity, its remainder, and division that rounds towards plus infinity. Throws
  /// UserError(Value) for the constant 0 as divisor. A symbolic divisor is taken not to be 0: `i0*i1 / i1` is `i0`.
  friend IntExpr floorDiv(const IntExpr& a, const IntExpr& b);
  friend IntExpr floorMod(const IntExpr& a, const IntExpr& b);
  friend IntExpr ceilDiv(const IntExpr& a, const IntExpr& b);

  /// One factor of a product: a symbol, or a quotient or remainder of two expressions (int_expr_terms.h).
  struct Atom;
  /// coefficient * product of atoms (sorted); never the constant term.
  struct Term;
  /// The sum is `constantTerm()` plus `terms()`, in canonical order.
  std::span<const Term> terms() const noexcept;
  int64_t constantTerm() const noexcept { return constant_; }
  /// The symbol that the expression consists of; nullopt if it is anything else.
  std::optional<SymbolId> asSymbol() const noexcept;

  /// Whether every value of the expression is a multiple of `divisor`, as far as its form shows.
  bool isMultipleOf(int64_t divisor) const;

  /// Bounds over all symbols in [0, maxSymbol]; saturates at the int64 limits.
  struct Bounds {
    int64_t low;
    int64_t high;
  };
  Bounds bounds(int64_t maxSymbol) const;

  using SymbolValue = std::function<std::optional<int64_t>(SymbolId)>;
  /// The value, or nullopt if a symbol has none. Division by zero throws UserError(Value).
  std::optional<int64_t> evaluate(const SymbolValue& valueOf) const;
  /// The expression with every symbol that has a value replaced by it.
  IntExpr substitute(const SymbolValue& valueOf) const;
  std::vector<SymbolId> symbols() const;

  /// `i0*4 + 1`, `(i0 + 1)/3`, `i0 % 2`; symbols print as `i<id>`, a `/` rounds down.
  std::string toText() const;
  uint64_t hash() const noexcept;
  friend bool operator==(const IntExpr& a, const IntExpr& b) noexcept;

 private:
  using Terms = std::vector<Term>;
  /// The sum of terms in any order, repetitions and constants among them.
  static IntExpr fromTerms(Terms terms);
  static IntExpr fromAtom(Atom atom);
  static IntExpr scaled(const IntExpr& expr, int64_t factor);
  static std::optional<IntExpr> exactQuotient(const IntExpr& a, const IntExpr& b);
  static IntExpr quotientByConstant(const IntExpr& a, int64_t divisor);
  static IntExpr remainderByConstant(const IntExpr& a, int64_t divisor);

  int64_t constant_ = 0;
  std::shared_ptr<const Terms> terms_;  // null for a constant; never holds the constant term
};

IntExpr floorDiv(const IntExpr& a, const IntExpr& b);
IntExpr floorMod(const IntExpr& a, const IntExpr& b);
IntExpr ceilDiv(const IntExpr& a, const IntExpr& b);

}  // namespace meshfuse
