// Quotients and remainders of integer expressions, brought into canonical form.
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/checked_arithmetic.h"
#include "meshfuse/ir/int_expr_terms.h"

namespace meshfuse {

namespace {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

constexpr IntExpr::Bounds kAnyInteger{std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max()};

[[noreturn]] void throwDivisionByZero() {
  throwUser(ErrorKind::Value, {"integer expression", "a divisor must not be zero", "got 0",
                               "use sizes for which the divisor is another number"});
}

int64_t floorRemainder(int64_t a, int64_t b) noexcept {
  if (b == -1) {
    return 0;
  }
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t floorQuotient(int64_t a, int64_t b) {
  if (b == -1) {
    return subtractChecked(0, a);
  }
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// `term` without the factors of `divisor`; nullopt if they do not divide it.
std::optional<Term> dividedBy(const Term& term, const Term& divisor) {
  if (floorRemainder(term.coefficient, divisor.coefficient) != 0) {
    return std::nullopt;
  }
  Term out{floorQuotient(term.coefficient, divisor.coefficient), {}};
  size_t next = 0;
  for (const Atom& atom : term.atoms) {
    if (next < divisor.atoms.size() && compareForm(atom, divisor.atoms[next]) == 0) {
      ++next;
    } else {
      out.atoms.push_back(atom);
    }
  }
  return next == divisor.atoms.size() ? std::optional(std::move(out)) : std::nullopt;
}

/// a = divisor * whole + scale * rest + low with 0 <= low < scale, and divisor = scale * restDivisor: what can
/// be taken out of a division by a positive constant for any values of the symbols.
struct Split {
  std::vector<Term> whole;
  std::vector<Term> rest;
  int64_t restDivisor = 1;
  int64_t scale = 1;
  int64_t low = 0;
};

Split splitByConstant(const IntExpr& a, int64_t divisor) {
  Split out;
  int64_t scale = divisor;
  for (const Term& term : a.terms()) {
    // Rounding towards zero keeps a negative coefficient's rest negative, and with it bounds tight.
    if (int64_t quotient = term.coefficient / divisor; quotient != 0) {
      out.whole.push_back({quotient, term.atoms});
    }
    if (int64_t rest = term.coefficient % divisor; rest != 0) {
      out.rest.push_back({rest, term.atoms});
      scale = std::gcd(scale, rest);
    }
  }
  out.whole.push_back({floorQuotient(a.constantTerm(), divisor), {}});
  int64_t constant = floorRemainder(a.constantTerm(), divisor);
  for (Term& term : out.rest) {
    term.coefficient /= scale;
  }
  out.rest.push_back({constant / scale, {}});
  out.scale = scale;
  out.low = constant % scale;
  out.restDivisor = divisor / scale;
  return out;
}

bool isWithin(const IntExpr& expr, int64_t divisor) {
  IntExpr::Bounds bounds = boundsOver(expr, kAnyInteger);
  return bounds.low >= 0 && bounds.high < divisor;
}

/// x and k if `expr` is the quotient x/k by a positive constant k.
const IntDivision* asQuotientByConstant(const IntExpr& expr) noexcept {
  if (expr.constantTerm() != 0 || expr.terms().size() != 1) {
    return nullptr;
  }
  const Term& term = expr.terms()[0];
  if (term.coefficient != 1 || term.atoms.size() != 1 ||
      term.atoms[0].kind != Atom::Kind::Quotient) {
    return nullptr;
  }
  const IntDivision& division = *term.atoms[0].division;
  return division.divisor.asConstant().value_or(0) > 0 ? &division : nullptr;
}

}  // namespace

IntExpr IntExpr::quotientByConstant(const IntExpr& a, int64_t divisor) {
  Split split = splitByConstant(a, divisor);
  IntExpr whole = fromTerms(std::move(split.whole));
  IntExpr rest = fromTerms(std::move(split.rest));
  if (isWithin(rest, split.restDivisor)) {
    return whole;
  }
  int64_t combined = 0;
  const IntDivision* inner = asQuotientByConstant(rest);
  if (inner != nullptr &&
      !__builtin_mul_overflow(inner->divisor.constant(), split.restDivisor, &combined)) {
    return whole + quotientByConstant(inner->dividend, combined);
  }
  IntDivision division{std::move(rest), split.restDivisor};
  return whole + fromAtom({Atom::Kind::Quotient, SymbolId{},
                           std::make_shared<const IntDivision>(std::move(division))});
}

IntExpr IntExpr::remainderByConstant(const IntExpr& a, int64_t divisor) {
  Split split = splitByConstant(a, divisor);
  IntExpr rest = fromTerms(std::move(split.rest));
  if (!isWithin(rest, split.restDivisor)) {
    IntDivision division{std::move(rest), split.restDivisor};
    rest = fromAtom({Atom::Kind::Remainder, SymbolId{},
                     std::make_shared<const IntDivision>(std::move(division))});
  }
  return scaled(rest, split.scale) + IntExpr(split.low);
}

/// a / b where b is a product that divides every term of a, or a itself. For symbolic b, 0 is not a legal value,
/// so it does not matter that the result is defined there.
std::optional<IntExpr> IntExpr::exactQuotient(const IntExpr& a, const IntExpr& b) {
  if (a == b) {
    return IntExpr(1);
  }
  if (a.constantTerm() != 0 || b.constantTerm() != 0 || b.terms().size() != 1) {
    return std::nullopt;
  }
  Terms quotients;
  for (const Term& term : a.terms()) {
    std::optional<Term> quotient = dividedBy(term, b.terms()[0]);
    if (!quotient) {
      return std::nullopt;
    }
    quotients.push_back(std::move(*quotient));
  }
  return fromTerms(std::move(quotients));
}

IntExpr floorDiv(const IntExpr& a, const IntExpr& b) {
  if (!b.isConstant()) {
    if (std::optional<IntExpr> exact = IntExpr::exactQuotient(a, b)) {
      return *exact;
    }
    return IntExpr::fromAtom(
        {Atom::Kind::Quotient, SymbolId{}, std::make_shared<const IntDivision>(IntDivision{a, b})});
  }
  int64_t divisor = b.constantTerm();
  if (divisor == 0) {
    throwDivisionByZero();
  }
  if (a.isConstant()) {
    return floorQuotient(a.constantTerm(), divisor);
  }
  return divisor > 0
             ? IntExpr::quotientByConstant(a, divisor)
             : IntExpr::quotientByConstant(IntExpr::scaled(a, -1), subtractChecked(0, divisor));
}

IntExpr floorMod(const IntExpr& a, const IntExpr& b) {
  if (!b.isConstant()) {
    if (IntExpr::exactQuotient(a, b)) {
      return 0;
    }
    return IntExpr::fromAtom({Atom::Kind::Remainder, SymbolId{},
                              std::make_shared<const IntDivision>(IntDivision{a, b})});
  }
  int64_t divisor = b.constantTerm();
  if (divisor == 0) {
    throwDivisionByZero();
  }
  if (a.isConstant()) {
    return floorRemainder(a.constantTerm(), divisor);
  }
  if (divisor > 0) {
    return IntExpr::remainderByConstant(a, divisor);
  }
  IntExpr mirrored =
      IntExpr::remainderByConstant(IntExpr::scaled(a, -1), subtractChecked(0, divisor));
  return IntExpr::scaled(mirrored, -1);
}

IntExpr ceilDiv(const IntExpr& a, const IntExpr& b) {
  if (b.isConstant() && b.constantTerm() > 0 && !a.isConstant()) {
    return floorDiv(a + IntExpr(b.constantTerm() - 1), b);
  }
  return IntExpr(0) - floorDiv(IntExpr(0) - a, b);
}

}  // namespace meshfuse
