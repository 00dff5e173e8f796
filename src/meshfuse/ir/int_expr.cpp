#include "meshfuse/ir/int_expr.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/ir/int_expr_terms.h"

namespace meshfuse {

namespace {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

constexpr IntExpr::Bounds kAnyInteger{std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max()};

[[noreturn]] void throwOverflow(std::string_view operation, int64_t a, int64_t b) {
  throwUser(ErrorKind::Value,
            {"integer expression", "sizes and their products must fit in 64 bits",
             std::string(operation) + " of " + std::to_string(a) + " and " + std::to_string(b) +
                 " overflows",
             "use smaller sizes"});
}

[[noreturn]] void throwDivisionByZero() {
  throwUser(ErrorKind::Value, {"integer expression", "a divisor must not be zero", "got 0",
                               "use sizes for which the divisor is another number"});
}

int64_t addChecked(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throwOverflow("the sum", a, b);
  }
  return sum;
}

int64_t subtractChecked(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) {
    throwOverflow("the difference", a, b);
  }
  return difference;
}

int64_t multiplyChecked(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throwOverflow("the product", a, b);
  }
  return product;
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

Term product(const Term& a, const Term& b) {
  Term out{multiplyChecked(a.coefficient, b.coefficient), {}};
  out.atoms.reserve(a.atoms.size() + b.atoms.size());
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
             std::back_inserter(out.atoms),
             [](const Atom& x, const Atom& y) { return compareForm(x, y) < 0; });
  return out;
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

IntExpr::IntExpr(int64_t constant) : constant_(constant) {}

IntExpr IntExpr::symbol(SymbolId id) { return fromAtom({Atom::Kind::Symbol, id, nullptr}); }

IntExpr IntExpr::fromAtom(Atom atom) {
  IntExpr out(0);
  out.terms_ = std::make_shared<const Terms>(Terms{Term{1, {std::move(atom)}}});
  return out;
}

IntExpr IntExpr::fromTerms(Terms terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) {
    return compareForm(std::span(x.atoms), std::span(y.atoms)) < 0;
  });
  IntExpr out(0);
  Terms merged;
  merged.reserve(terms.size());
  for (Term& term : terms) {
    if (term.atoms.empty()) {
      out.constant_ = addChecked(out.constant_, term.coefficient);
    } else if (!merged.empty() &&
               compareForm(std::span(merged.back().atoms), std::span(term.atoms)) == 0) {
      merged.back().coefficient = addChecked(merged.back().coefficient, term.coefficient);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  if (!merged.empty()) {
    out.terms_ = std::make_shared<const Terms>(std::move(merged));
  }
  return out;
}

bool IntExpr::isConstant() const noexcept { return terms_ == nullptr; }

int64_t IntExpr::constant() const {
  internalCheck(isConstant(), "only a constant expression is asked for its constant");
  return constant_;
}

std::optional<int64_t> IntExpr::asConstant() const noexcept {
  return isConstant() ? std::optional(constant_) : std::nullopt;
}

std::span<const Term> IntExpr::terms() const noexcept {
  return terms_ == nullptr ? std::span<const Term>() : std::span<const Term>(*terms_);
}

std::optional<SymbolId> IntExpr::asSymbol() const noexcept {
  if (constant_ != 0 || terms().size() != 1) {
    return std::nullopt;
  }
  const Term& term = terms()[0];
  bool isSymbol =
      term.coefficient == 1 && term.atoms.size() == 1 && term.atoms[0].kind == Atom::Kind::Symbol;
  return isSymbol ? std::optional(term.atoms[0].symbol) : std::nullopt;
}

IntExpr operator+(const IntExpr& a, const IntExpr& b) {
  if (a.isConstant() || b.isConstant()) {
    IntExpr out = a.isConstant() ? b : a;
    out.constant_ = addChecked(a.constant_, b.constant_);
    return out;
  }
  std::vector<Term> terms(a.terms().begin(), a.terms().end());
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  IntExpr out = IntExpr::fromTerms(std::move(terms));
  out.constant_ = addChecked(a.constant_, b.constant_);
  return out;
}

IntExpr operator-(const IntExpr& a, const IntExpr& b) {
  if (b.isConstant()) {
    IntExpr out = a;
    out.constant_ = subtractChecked(a.constant_, b.constant_);
    return out;
  }
  return a + IntExpr::scaled(b, -1);
}

IntExpr IntExpr::scaled(const IntExpr& expr, int64_t factor) {
  if (factor == 1) {
    return expr;
  }
  IntExpr out(multiplyChecked(expr.constant_, factor));
  if (expr.isConstant() || factor == 0) {
    return out;
  }
  Terms terms = *expr.terms_;
  for (Term& term : terms) {
    term.coefficient = multiplyChecked(term.coefficient, factor);
  }
  out.terms_ = std::make_shared<const Terms>(std::move(terms));
  return out;
}

IntExpr operator*(const IntExpr& a, const IntExpr& b) {
  if (a.isConstant()) {
    return IntExpr::scaled(b, a.constant_);
  }
  if (b.isConstant()) {
    return IntExpr::scaled(a, b.constant_);
  }
  std::vector<Term> terms;
  terms.reserve(a.terms().size() * b.terms().size());
  for (const Term& x : a.terms()) {
    for (const Term& y : b.terms()) {
      terms.push_back(product(x, y));
    }
  }
  return IntExpr::fromTerms(std::move(terms)) +
         IntExpr::scaled(a - IntExpr(a.constant_), b.constant_) + IntExpr::scaled(b, a.constant_);
}

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

namespace {

/// a / b where b is a product that divides every term of a, or a itself. For symbolic b, 0 is not a legal value,
/// so it does not matter that the result is defined there.
std::optional<IntExpr> divideExactly(const IntExpr& a, const IntExpr& b) {
  if (a == b) {
    return IntExpr(1);
  }
  if (a.constantTerm() != 0 || b.constantTerm() != 0 || b.terms().size() != 1) {
    return std::nullopt;
  }
  IntExpr out(0);
  for (const Term& term : a.terms()) {
    std::optional<Term> quotient = dividedBy(term, b.terms()[0]);
    if (!quotient) {
      return std::nullopt;
    }
    IntExpr factor(quotient->coefficient);
    for (const Atom& atom : quotient->atoms) {
      factor = factor * (atom.kind == Atom::Kind::Symbol ? IntExpr::symbol(atom.symbol)
                         : atom.kind == Atom::Kind::Quotient
                             ? floorDiv(atom.division->dividend, atom.division->divisor)
                             : floorMod(atom.division->dividend, atom.division->divisor));
    }
    out = out + factor;
  }
  return out;
}

}  // namespace

IntExpr floorDiv(const IntExpr& a, const IntExpr& b) {
  if (!b.isConstant()) {
    if (std::optional<IntExpr> exact = divideExactly(a, b)) {
      return *exact;
    }
    return IntExpr::fromAtom({Atom::Kind::Quotient, SymbolId{},
                              std::make_shared<const IntDivision>(IntDivision{a, b})});
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
    if (divideExactly(a, b)) {
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

uint64_t IntExpr::hash() const noexcept {
  uint64_t seed = hashMix(0, static_cast<uint64_t>(constant_));
  for (const Term& term : terms()) {
    seed = hashMix(hashMix(seed, static_cast<uint64_t>(term.coefficient)), term.atoms.size());
    for (const Atom& atom : term.atoms) {
      seed = hashMix(seed, static_cast<uint64_t>(atom.kind));
      if (atom.kind == Atom::Kind::Symbol) {
        seed = hashMix(seed, indexOf(atom.symbol));
      } else {
        seed = hashMix(hashMix(seed, atom.division->dividend.hash()), atom.division->divisor.hash());
      }
    }
  }
  return seed;
}

bool operator==(const IntExpr& a, const IntExpr& b) noexcept { return compareForm(a, b) == 0; }

std::strong_ordering compareForm(const Atom& a, const Atom& b) noexcept {
  if (a.kind != b.kind) {
    return a.kind <=> b.kind;
  }
  if (a.kind == Atom::Kind::Symbol) {
    return indexOf(a.symbol) <=> indexOf(b.symbol);
  }
  if (a.division == b.division) {
    return std::strong_ordering::equal;
  }
  std::strong_ordering order = compareForm(a.division->dividend, b.division->dividend);
  return order != 0 ? order : compareForm(a.division->divisor, b.division->divisor);
}

std::strong_ordering compareForm(std::span<const Atom> a, std::span<const Atom> b) noexcept {
  if (a.size() != b.size()) {
    return b.size() <=> a.size();
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::strong_ordering order = compareForm(a[i], b[i]); order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compareForm(const IntExpr& a, const IntExpr& b) noexcept {
  std::span<const Term> x = a.terms();
  std::span<const Term> y = b.terms();
  if (x.size() != y.size() || a.constantTerm() != b.constantTerm()) {
    return x.size() != y.size() ? x.size() <=> y.size() : a.constantTerm() <=> b.constantTerm();
  }
  for (size_t i = 0; x.data() != y.data() && i < x.size(); ++i) {
    std::strong_ordering order = compareForm(std::span(x[i].atoms), std::span(y[i].atoms));
    order = order != 0 ? order : x[i].coefficient <=> y[i].coefficient;
    if (order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

}  // namespace meshfuse
