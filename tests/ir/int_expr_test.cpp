// Integer expressions: canonical form, text, errors, bounds and divisibility of chosen ones.
#include "meshfuse/ir/int_expr.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse_types.h"

namespace meshfuse {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

IntExpr sym(uint32_t id) { return IntExpr::symbol(SymbolId{id}); }

const IntExpr i0 = sym(0);
const IntExpr i1 = sym(1);
const IntExpr i2 = sym(2);

template <class F>
std::string userErrorOf(F&& f) {
  try {
    f();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    return error.what();
  }
  return "no error";
}

TEST(IntExpr, EqualSumsAndProductsCompareEqual) {
  EXPECT_EQ((i0 + 1) * 2, 2 * i0 + 2);
  EXPECT_EQ((i0 + i1) * (i0 - i1), i0 * i0 - i1 * i1);
  EXPECT_EQ(i0 * i1 * i2, i2 * i1 * i0);
  EXPECT_EQ(i0 - i0, IntExpr(0));
  EXPECT_TRUE((i0 - i0).isConstant());
  EXPECT_NE(i0, i1);
  EXPECT_NE(i0 + 1, i0);
  EXPECT_NE(i0 * i0, i0);
  EXPECT_EQ(((i0 + 1) * 2).hash(), (2 * i0 + 2).hash());
}

TEST(IntExpr, ConstantsFold) {
  EXPECT_EQ((IntExpr(7) + 5 * IntExpr(2) - 1).constant(), 16);
  EXPECT_EQ(floorDiv(-7, 2).constant(), -4);
  EXPECT_EQ(floorMod(-7, 2).constant(), 1);
  EXPECT_EQ(floorDiv(7, -2).constant(), -4);
  EXPECT_EQ(floorMod(7, -2).constant(), -1);
  EXPECT_EQ(ceilDiv(7, 2).constant(), 4);
  EXPECT_EQ(ceilDiv(-7, 2).constant(), -3);
  EXPECT_EQ(floorMod(kMin, -1).constant(), 0);
  EXPECT_EQ(i0.asConstant(), std::nullopt);
  EXPECT_THROW(i0.constant(), InternalError);
}

TEST(IntExpr, AsSymbolIsTheWholeExpression) {
  EXPECT_EQ(i1.asSymbol(), SymbolId{1});
  EXPECT_EQ((i1 + 1).asSymbol(), std::nullopt);
  EXPECT_EQ((i1 * 2).asSymbol(), std::nullopt);
  EXPECT_EQ((i1 * i1).asSymbol(), std::nullopt);
  EXPECT_EQ(floorDiv(i1, 2).asSymbol(), std::nullopt);
  EXPECT_EQ(IntExpr(3).asSymbol(), std::nullopt);
}

TEST(IntExpr, QuotientsSimplifyWhereThatHoldsForAllIntegers) {
  EXPECT_EQ(floorDiv(i0, 1), i0);
  EXPECT_EQ(floorMod(i0, 1), IntExpr(0));
  EXPECT_EQ(floorDiv(6 * i0, 3), 2 * i0);
  EXPECT_EQ(floorMod(6 * i0, 3), IntExpr(0));
  EXPECT_EQ(floorDiv(4 * i0 + 3, 4), i0);
  EXPECT_EQ(floorDiv(4 * i0 + 5, 4), i0 + 1);
  EXPECT_EQ(floorDiv(4 * i0 - 1, 4), i0 - 1);
  EXPECT_EQ(floorDiv(6 * i0, 4), floorDiv(3 * i0, 2));
  EXPECT_EQ(floorMod(6 * i0 + 1, 4), 2 * floorMod(i0, 2) + 1);
  EXPECT_EQ(floorDiv(floorDiv(i0, 2), 3), floorDiv(i0, 6));
  EXPECT_EQ(floorDiv(4 * i1 + floorMod(i0, 4), 4), i1);
  EXPECT_EQ(floorMod(4 * i1 + floorMod(i0, 4), 4), floorMod(i0, 4));
  EXPECT_EQ(floorMod(floorMod(i0, 4), 8), floorMod(i0, 4));
  EXPECT_EQ(floorDiv(i0, -2), floorDiv(0 - i0, 2));
  EXPECT_EQ(ceilDiv(i0, 4), floorDiv(i0 + 3, 4));
}

TEST(IntExpr, QuotientsBySymbolicProductsCancel) {
  EXPECT_EQ(floorDiv(i0 * i1, i1), i0);
  EXPECT_EQ(floorMod(i0 * i1, i1), IntExpr(0));
  EXPECT_EQ(floorDiv(6 * i0 * i1 + 2 * i1, 2 * i1), 3 * i0 + 1);
  EXPECT_EQ(floorDiv(i0 + 1, i0 + 1), IntExpr(1));
  EXPECT_NE(floorDiv(i0 * i1 + 1, i1), i0);
  EXPECT_EQ(floorDiv(floorDiv(i0, i1) * i1, i1), floorDiv(i0, i1));
}

TEST(IntExpr, PrintsItsCanonicalForm) {
  EXPECT_EQ(IntExpr(0).toText(), "0");
  EXPECT_EQ(IntExpr(-3).toText(), "-3");
  EXPECT_EQ((1 + 4 * i0).toText(), "i0*4 + 1");
  EXPECT_EQ((i1 - i0 * 2 - 3).toText(), "-i0*2 + i1 - 3");
  EXPECT_EQ(floorDiv(i0, 3).toText(), "i0/3");
  EXPECT_EQ(floorMod(i0, 2).toText(), "i0 % 2");
  EXPECT_EQ(floorDiv(i0 + 1, 3).toText(), "(i0 + 1)/3");
  EXPECT_EQ(floorDiv(i0, i1 + 1).toText(), "i0/(i1 + 1)");
  EXPECT_EQ((floorDiv(i0, 3) * i1 * 2).toText(), "i1*(i0/3)*2");
  EXPECT_EQ((1 - floorDiv(i0, 3)).toText(), "-(i0/3) + 1");
  EXPECT_EQ((i0 * i1 + i0 + i1).toText(), "i0*i1 + i0 + i1");
}

TEST(IntExpr, OverflowIsAUserError) {
  EXPECT_EQ(userErrorOf([] { IntExpr(kMax) + 1; }),
            "integer expression: sizes and their products must fit in 64 bits: the sum of "
            "9223372036854775807 and 1 overflows; use smaller sizes");
  EXPECT_EQ(userErrorOf([] { i0 * kMax * 2; }),
            "integer expression: sizes and their products must fit in 64 bits: the product of "
            "9223372036854775807 and 2 overflows; use smaller sizes");
  EXPECT_EQ(userErrorOf([] { floorDiv(kMin, -1); }),
            "integer expression: sizes and their products must fit in 64 bits: the difference of "
            "0 and -9223372036854775808 overflows; use smaller sizes");
  auto large = [](SymbolId) { return std::optional<int64_t>(kMax); };
  EXPECT_EQ(userErrorOf([&] { (i0 * i1).evaluate(large); }),
            "integer expression: sizes and their products must fit in 64 bits: i0*i1 overflows; "
            "use smaller sizes");
  EXPECT_EQ(userErrorOf([&] { (i0 * i0 * i0).evaluate(large); }),
            "integer expression: sizes and their products must fit in 64 bits: i0*i0*i0 overflows; "
            "use smaller sizes");
  EXPECT_EQ((i0 * 3 - i1 * 2).evaluate(large), kMax) << "parts may leave the range";
}

TEST(IntExpr, DivisionByZeroIsAUserError) {
  EXPECT_EQ(
      userErrorOf([] { floorDiv(i0, 0); }),
      "integer expression: a divisor must not be zero: got 0; use sizes for which the divisor "
      "is another number");
  EXPECT_NE(userErrorOf([] { floorMod(i0, 0); }), "no error");
  EXPECT_NE(userErrorOf([] { ceilDiv(i0, 0); }), "no error");
  auto zero = [](SymbolId id) { return std::optional<int64_t>(indexOf(id) == 0 ? 5 : 0); };
  EXPECT_EQ(userErrorOf([&] { floorDiv(i0, i1).evaluate(zero); }),
            "integer expression: a divisor must not be zero: i1 is 0; use sizes for which the "
            "divisor is another number");
  EXPECT_NE(userErrorOf([&] { floorDiv(i0, i1).substitute(zero); }), "no error");
}

TEST(IntExpr, EvaluateNeedsEverySymbolThatCounts) {
  auto onlyFirst = [](SymbolId id) {
    return indexOf(id) == 0 ? std::optional<int64_t>(5) : std::nullopt;
  };
  EXPECT_EQ((i0 * 3 + 1).evaluate(onlyFirst), 16);
  EXPECT_EQ((i0 + i1).evaluate(onlyFirst), std::nullopt);
  EXPECT_EQ((i0 + i1 - i1).evaluate(onlyFirst), 5);
  EXPECT_EQ((i0 + i1).substitute(onlyFirst), i1 + 5);
}

TEST(IntExpr, SymbolsAreSortedAndUnique) {
  IntExpr expr = floorDiv(i2 + i0, i1 + 7) * i2 + floorMod(i0, 5);
  EXPECT_EQ(expr.symbols(), (std::vector<SymbolId>{SymbolId{0}, SymbolId{1}, SymbolId{2}}));
  EXPECT_TRUE(IntExpr(3).symbols().empty());
}

TEST(IntExpr, MultiplesAreSeenThroughProductsAndRemainders) {
  EXPECT_TRUE((8 * i0 + 4).isMultipleOf(4));
  EXPECT_FALSE((8 * i0 + 4).isMultipleOf(8));
  EXPECT_TRUE((4 * floorMod(6 * i0, 8 * i1) + 16).isMultipleOf(8));
  EXPECT_TRUE(IntExpr(0).isMultipleOf(7));
  EXPECT_TRUE(IntExpr(0).isMultipleOf(0));
  EXPECT_FALSE(i0.isMultipleOf(0));
  EXPECT_TRUE((6 * i0).isMultipleOf(-3));
  EXPECT_TRUE((i0 * kMin).isMultipleOf(kMin));
  EXPECT_TRUE(i0.isMultipleOf(1));
}

TEST(IntExpr, BoundsAreExactForSimpleFormsAndSaturate) {
  auto expectBounds = [](const IntExpr& expr, int64_t max, int64_t low, int64_t high) {
    IntExpr::Bounds bounds = expr.bounds(max);
    EXPECT_EQ(bounds.low, low) << expr.toText();
    EXPECT_EQ(bounds.high, high) << expr.toText();
  };
  expectBounds(3 * i0 - 2 * i1 + 1, 10, -19, 31);
  expectBounds(floorDiv(i0, 4), 10, 0, 2);
  expectBounds(floorMod(i0, 4), 10, 0, 3);
  expectBounds(floorMod(i0, 40), 10, 0, 10);
  expectBounds(0 - floorDiv(i0, 4), 10, -2, 0);
  expectBounds(i0 * i1, 10, 0, 100);
  expectBounds(i0 * i1, kMax, 0, kMax);
  expectBounds(i0 * i1 * -1, kMax, kMin, 0);
  expectBounds(i0 * i1 - i0 * i1 * i2, int64_t{1} << 40, kMin, kMax);
  expectBounds(i0 * i1 - 5, int64_t{1} << 40, -5, kMax);
  expectBounds(IntExpr(kMin), 1, kMin, kMin);
}

TEST(IntExpr, TheLowestIntegerReadsBack) {
  for (const IntExpr& expr : {IntExpr(kMin), i0 + kMin, i0 * kMin, i0 * kMin + i1 * kMin + kMin}) {
    std::string text = expr.toText();
    TextCursor cursor(text, 1);
    EXPECT_EQ(parseIntExpr(cursor, [](SymbolId) {}), expr) << text;
  }
}

}  // namespace
}  // namespace meshfuse
