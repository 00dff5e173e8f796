// How integer expressions print.
#include <limits>
#include <string_view>

#include "meshfuse/ir/int_expr_terms.h"

namespace meshfuse {

namespace {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

/// A symbol or a number bare, anything else in parentheses.
std::string operandText(const IntExpr& expr) {
  bool isBare = expr.asSymbol().has_value() || expr.asConstant().value_or(-1) >= 0;
  return isBare ? expr.toText() : "(" + expr.toText() + ")";
}

std::string atomText(const Atom& atom) {
  if (atom.kind == Atom::Kind::Symbol) {
    return "i" + std::to_string(indexOf(atom.symbol));
  }
  std::string_view sign = atom.kind == Atom::Kind::Quotient ? "/" : " % ";
  return operandText(atom.division->dividend).append(sign) + operandText(atom.division->divisor);
}

/// `i0*i1*4`; quotients stand in parentheses unless they are the whole term.
std::string productText(const std::vector<Atom>& atoms, int64_t coefficient) {
  if (coefficient == 1 && atoms.size() == 1) {
    return atomText(atoms[0]);
  }
  std::string out;
  for (const Atom& atom : atoms) {
    out.append(out.empty() ? "" : "*");
    out.append(atom.kind == Atom::Kind::Symbol ? atomText(atom) : "(" + atomText(atom) + ")");
  }
  return coefficient == 1 ? out : out + "*" + std::to_string(coefficient);
}

std::string termText(const Term& term) {
  if (term.coefficient < 0 && term.coefficient != std::numeric_limits<int64_t>::min()) {
    std::string text = productText(term.atoms, -term.coefficient);
    bool isLoneDivision = term.coefficient == -1 && term.atoms.size() == 1 &&
                          term.atoms[0].kind != Atom::Kind::Symbol;
    return isLoneDivision ? "-(" + text + ")" : "-" + text;
  }
  return productText(term.atoms, term.coefficient);
}

/// The magnitude of the lowest integer is no integer of 64 bits, so that one keeps its sign.
constexpr std::string_view kLowestText = "-9223372036854775808";

void appendSummand(std::string& out, const std::string& text) {
  if (out.empty()) {
    out = text;
  } else if (text.starts_with('-') && text != kLowestText) {
    out.append(" - ").append(text, 1);
  } else {
    out.append(" + ").append(text);
  }
}

}  // namespace

std::string IntExpr::toText() const {
  std::string out;
  for (const Term& term : terms()) {
    appendSummand(out, termText(term));
  }
  if (constant_ != 0 || isConstant()) {
    appendSummand(out, std::to_string(constant_));
  }
  return out;
}

}  // namespace meshfuse
