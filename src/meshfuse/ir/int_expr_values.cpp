// What is known of the values of an integer expression: at given symbols, in bounds, by divisibility.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/int_expr_terms.h"

namespace meshfuse {

namespace {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;
using Bounds = IntExpr::Bounds;

/// Wide enough for any product of two int64.
__extension__ using Wide = __int128;

constexpr Wide kLowest = std::numeric_limits<int64_t>::min();
constexpr Wide kHighest = std::numeric_limits<int64_t>::max();

[[noreturn]] void throwTooLarge(const IntExpr& expr) {
  throwUser(ErrorKind::Value, {"integer expression", "sizes and their products must fit in 64 bits",
                               expr.toText() + " overflows", "use smaller sizes"});
}

[[noreturn]] void throwZeroDivisor(const IntExpr& divisor) {
  throwUser(ErrorKind::Value,
            {"integer expression", "a divisor must not be zero", divisor.toText() + " is 0",
             "use sizes for which the divisor is another number"});
}

Wide floorQuotient(Wide a, Wide b) noexcept {
  Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<Wide> evaluateWide(const IntExpr& expr, const IntExpr::SymbolValue& valueOf);

std::optional<Wide> evaluateAtom(const Atom& atom, const IntExpr::SymbolValue& valueOf) {
  if (atom.kind == Atom::Kind::Symbol) {
    std::optional<int64_t> value = valueOf(atom.symbol);
    return value ? std::optional<Wide>(*value) : std::nullopt;
  }
  std::optional<Wide> dividend = evaluateWide(atom.division->dividend, valueOf);
  std::optional<Wide> divisor = evaluateWide(atom.division->divisor, valueOf);
  if (!dividend || !divisor) {
    return std::nullopt;
  }
  if (*divisor == 0) {
    throwZeroDivisor(atom.division->divisor);
  }
  Wide quotient = floorQuotient(*dividend, *divisor);
  return atom.kind == Atom::Kind::Quotient ? quotient : *dividend - quotient * *divisor;
}

/// Partial results may leave the range of int64 as long as the sum comes back to it.
std::optional<Wide> evaluateWide(const IntExpr& expr, const IntExpr::SymbolValue& valueOf) {
  Wide sum = expr.constantTerm();
  for (const Term& term : expr.terms()) {
    Wide product = term.coefficient;
    for (const Atom& atom : term.atoms) {
      std::optional<Wide> value = evaluateAtom(atom, valueOf);
      if (!value) {
        return std::nullopt;
      }
      if (__builtin_mul_overflow(product, *value, &product)) {
        throwTooLarge(expr);
      }
    }
    if (__builtin_add_overflow(sum, product, &sum)) {
      throwTooLarge(expr);
    }
  }
  return sum;
}

IntExpr substituteAtom(const Atom& atom, const IntExpr::SymbolValue& valueOf) {
  if (atom.kind == Atom::Kind::Symbol) {
    std::optional<int64_t> value = valueOf(atom.symbol);
    return value ? IntExpr(*value) : IntExpr::symbol(atom.symbol);
  }
  IntExpr dividend = atom.division->dividend.substitute(valueOf);
  IntExpr divisor = atom.division->divisor.substitute(valueOf);
  return atom.kind == Atom::Kind::Quotient ? floorDiv(dividend, divisor)
                                           : floorMod(dividend, divisor);
}

void collectSymbols(const IntExpr& expr, std::vector<SymbolId>& out) {
  for (const Term& term : expr.terms()) {
    for (const Atom& atom : term.atoms) {
      if (atom.kind == Atom::Kind::Symbol) {
        out.push_back(atom.symbol);
      } else {
        collectSymbols(atom.division->dividend, out);
        collectSymbols(atom.division->divisor, out);
      }
    }
  }
}

/// The greatest divisor of `of` that the form of `expr` shows to divide all its values.
uint64_t knownDivisor(const IntExpr& expr, uint64_t of);

uint64_t magnitude(int64_t value) noexcept {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

uint64_t knownDivisor(const Term& term, uint64_t of) {
  uint64_t rest = of / std::gcd(of, magnitude(term.coefficient));
  for (const Atom& atom : term.atoms) {
    if (atom.kind == Atom::Kind::Remainder) {
      // x % m is a multiple of whatever divides both x and m.
      rest /= std::gcd(knownDivisor(atom.division->dividend, rest),
                       knownDivisor(atom.division->divisor, rest));
    }
  }
  return of / rest;
}

uint64_t knownDivisor(const IntExpr& expr, uint64_t of) {
  uint64_t divisor = std::gcd(of, magnitude(expr.constantTerm()));
  for (const Term& term : expr.terms()) {
    divisor = std::gcd(divisor, knownDivisor(term, of));
  }
  return divisor;
}

/// A range whose low end at or below the int64 limit, or high end at or above it, stands for "unbounded".
struct Range {
  Wide low = 0;
  Wide high = 0;

  bool isOpenBelow() const noexcept { return low <= kLowest; }
  bool isOpenAbove() const noexcept { return high >= kHighest; }
};

Range clamped(Wide low, Wide high) noexcept {
  return {std::clamp(low, kLowest, kHighest), std::clamp(high, kLowest, kHighest)};
}

Range sum(const Range& a, const Range& b) noexcept {
  return clamped(a.isOpenBelow() || b.isOpenBelow() ? kLowest : a.low + b.low,
                 a.isOpenAbove() || b.isOpenAbove() ? kHighest : a.high + b.high);
}

/// Far beyond any end of a closed range, and so small that its product with one fits.
constexpr Wide kInfinity = kHighest * 4;

Wide endProduct(Wide a, Wide b) noexcept {
  bool isInfinite = a == kInfinity || a == -kInfinity || b == kInfinity || b == -kInfinity;
  if (!isInfinite || a == 0 || b == 0) {
    return a * b;
  }
  return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
}

Range product(const Range& a, const Range& b) noexcept {
  Wide aLow = a.isOpenBelow() ? -kInfinity : a.low;
  Wide aHigh = a.isOpenAbove() ? kInfinity : a.high;
  Wide bLow = b.isOpenBelow() ? -kInfinity : b.low;
  Wide bHigh = b.isOpenAbove() ? kInfinity : b.high;
  auto [low, high] = std::minmax({endProduct(aLow, bLow), endProduct(aLow, bHigh),
                                  endProduct(aHigh, bLow), endProduct(aHigh, bHigh)});
  return clamped(low, high);
}

Range quotient(const Range& a, const Range& b) noexcept {
  if (b.low >= 1) {
    // Growing with a, and with b towards 0 (or towards -1 from below).
    Wide low = a.low < 0 ? floorQuotient(a.low, b.low) : b.isOpenAbove() ? 0 : a.low / b.high;
    Wide high = a.high >= 0 ? a.high / b.low : b.isOpenAbove() ? -1 : floorQuotient(a.high, b.high);
    return clamped(a.isOpenBelow() ? kLowest : low, a.isOpenAbove() ? kHighest : high);
  }
  // Any divisor but 0 leaves the magnitude where it is or makes it smaller.
  if (a.isOpenBelow() || a.isOpenAbove()) {
    return {kLowest, kHighest};
  }
  Wide largest = std::max(a.low < 0 ? -a.low : a.low, a.high < 0 ? -a.high : a.high);
  return clamped(-largest, largest);
}

Range remainder(const Range& a, const Range& b) noexcept {
  Range out;
  out.low = b.low >= 0 ? Wide{0} : b.isOpenBelow() ? kLowest : b.low + 1;
  out.high = b.high <= 0 ? Wide{0} : b.isOpenAbove() ? kHighest : b.high - 1;
  if (a.low >= 0 && b.low >= 1 && !a.isOpenAbove()) {
    out.high = std::min(out.high, a.high);
  }
  return out;
}

Range rangeOf(const IntExpr& expr, const Range& symbols);

Range rangeOf(const Atom& atom, const Range& symbols) {
  if (atom.kind == Atom::Kind::Symbol) {
    return symbols;
  }
  Range dividend = rangeOf(atom.division->dividend, symbols);
  Range divisor = rangeOf(atom.division->divisor, symbols);
  return atom.kind == Atom::Kind::Quotient ? quotient(dividend, divisor)
                                           : remainder(dividend, divisor);
}

Range rangeOf(const IntExpr& expr, const Range& symbols) {
  Range total{expr.constantTerm(), expr.constantTerm()};
  for (const Term& term : expr.terms()) {
    Range factor{term.coefficient, term.coefficient};
    for (const Atom& atom : term.atoms) {
      factor = product(factor, rangeOf(atom, symbols));
    }
    total = sum(total, factor);
  }
  return total;
}

}  // namespace

std::optional<int64_t> IntExpr::evaluate(const SymbolValue& valueOf) const {
  std::optional<Wide> value = evaluateWide(*this, valueOf);
  if (!value) {
    return std::nullopt;
  }
  if (*value < kLowest || *value > kHighest) {
    throwTooLarge(*this);
  }
  return static_cast<int64_t>(*value);
}

IntExpr IntExpr::substitute(const SymbolValue& valueOf) const {
  IntExpr out(constant_);
  for (const Term& term : terms()) {
    IntExpr product(term.coefficient);
    for (const Atom& atom : term.atoms) {
      product = product * substituteAtom(atom, valueOf);
    }
    out = out + product;
  }
  return out;
}

std::vector<SymbolId> IntExpr::symbols() const {
  std::vector<SymbolId> out;
  collectSymbols(*this, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool IntExpr::isMultipleOf(int64_t divisor) const {
  if (divisor == 0) {
    return isConstant() && constant_ == 0;
  }
  return knownDivisor(*this, magnitude(divisor)) == magnitude(divisor);
}

Bounds boundsOver(const IntExpr& expr, Bounds symbols) {
  Range range = rangeOf(expr, {symbols.low, symbols.high});
  return {static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)};
}

IntExpr::Bounds IntExpr::bounds(int64_t maxSymbol) const {
  return boundsOver(*this, {0, maxSymbol});
}

}  // namespace meshfuse
