#include "meshfuse/ir/int_expr.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/base/hash.h"
#include "meshfuse/ir/checked_arithmetic.h"
#include "meshfuse/ir/int_expr_terms.h"

namespace meshfuse {

namespace {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

Term product(const Term& a, const Term& b) {
  Term out{multiplyChecked(a.coefficient, b.coefficient), {}};
  out.atoms.reserve(a.atoms.size() + b.atoms.size());
  std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
             std::back_inserter(out.atoms),
             [](const Atom& x, const Atom& y) { return compareForm(x, y) < 0; });
  return out;
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

uint64_t IntExpr::hash() const noexcept {
  uint64_t seed = hashMix(0, static_cast<uint64_t>(constant_));
  for (const Term& term : terms()) {
    seed = hashMix(hashMix(seed, static_cast<uint64_t>(term.coefficient)), term.atoms.size());
    for (const Atom& atom : term.atoms) {
      seed = hashMix(seed, static_cast<uint64_t>(atom.kind));
      if (atom.kind == Atom::Kind::Symbol) {
        seed = hashMix(seed, indexOf(atom.symbol));
      } else {
        seed =
            hashMix(hashMix(seed, atom.division->dividend.hash()), atom.division->divisor.hash());
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
