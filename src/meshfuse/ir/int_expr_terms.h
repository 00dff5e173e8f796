// The insides of an integer expression: its terms and the factors they multiply.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "meshfuse/ir/int_expr.h"

namespace meshfuse {

/// What a quotient or remainder is taken of.
struct IntDivision {
  IntExpr dividend;
  IntExpr divisor;
};

struct IntExpr::Atom {
  enum class Kind : uint8_t { Symbol, Quotient, Remainder };

  Kind kind = Kind::Symbol;
  SymbolId symbol{};                            // symbols only
  std::shared_ptr<const IntDivision> division;  // quotients and remainders only
};

struct IntExpr::Term {
  int64_t coefficient = 1;
  std::vector<Atom> atoms;  // sorted; a repeated atom is a power
};

/// A total order by form alone, the same in every process. Terms of higher degree come first.
std::strong_ordering compareForm(const IntExpr::Atom& a, const IntExpr::Atom& b) noexcept;
std::strong_ordering compareForm(std::span<const IntExpr::Atom> a,
                                 std::span<const IntExpr::Atom> b) noexcept;
std::strong_ordering compareForm(const IntExpr& a, const IntExpr& b) noexcept;

/// Bounds over all symbols in `symbols`, whose ends mean "unbounded" where they are the int64 limits.
IntExpr::Bounds boundsOver(const IntExpr& expr, IntExpr::Bounds symbols);

}  // namespace meshfuse
