// Integer expressions: canonical form, and agreement with direct evaluation of random expression trees.
#include "meshfuse/ir/int_expr.h"

#include <array>
#include <limits>
#include <memory>
#include <random>
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

// ---- random trees -----------------------------------------------------------------------------------------

__extension__ using Wide = __int128;
using Values = std::array<int64_t, 3>;

enum class Op { Constant, Symbol, Add, Subtract, Multiply, FloorDiv, FloorMod, CeilDiv };

struct Tree {
  Op op = Op::Constant;
  int64_t leaf = 0;
  std::unique_ptr<Tree> left;
  std::unique_ptr<Tree> right;
};

class TreeMaker {
 public:
  explicit TreeMaker(uint64_t seed) : random_(seed) {}

  std::unique_ptr<Tree> make(int depth) {
    auto tree = std::make_unique<Tree>();
    if (depth == 0 || below(4) == 0) {
      tree->op = below(2) == 0 ? Op::Constant : Op::Symbol;
      tree->leaf = tree->op == Op::Constant ? below(17) - 8 : below(3);
      return tree;
    }
    constexpr std::array ops{Op::Add,      Op::Add,      Op::Subtract, Op::Multiply, Op::Multiply,
                             Op::FloorDiv, Op::FloorDiv, Op::FloorMod, Op::CeilDiv};
    tree->op = ops[static_cast<size_t>(below(ops.size()))];
    tree->left = make(depth - 1);
    // Constant divisors are where the simplifications are.
    bool isDivision = tree->op >= Op::FloorDiv;
    tree->right = isDivision && below(3) != 0 ? constant() : make(depth - 1);
    return tree;
  }

  int64_t below(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }

 private:
  std::unique_ptr<Tree> constant() {
    auto tree = std::make_unique<Tree>();
    tree->leaf = below(13) - 6;
    return tree;
  }

  std::mt19937_64 random_;
};

Wide floorOf(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// By the definition of each operation; nullopt for a division by zero.
std::optional<Wide> direct(const Tree& tree, const Values& values) {
  if (tree.op == Op::Constant) {
    return tree.leaf;
  }
  if (tree.op == Op::Symbol) {
    return values[static_cast<size_t>(tree.leaf)];
  }
  std::optional<Wide> a = direct(*tree.left, values);
  std::optional<Wide> b = direct(*tree.right, values);
  if (!a || !b || (*b == 0 && tree.op >= Op::FloorDiv)) {
    return std::nullopt;
  }
  switch (tree.op) {
    case Op::Add:
      return *a + *b;
    case Op::Subtract:
      return *a - *b;
    case Op::Multiply:
      return *a * *b;
    case Op::FloorDiv:
      return floorOf(*a, *b);
    case Op::FloorMod:
      return *a - floorOf(*a, *b) * *b;
    default:
      return -floorOf(-*a, *b);
  }
}

/// nullopt where a divisor is the constant 0.
std::optional<IntExpr> build(const Tree& tree) {
  if (tree.op == Op::Constant) {
    return IntExpr(tree.leaf);
  }
  if (tree.op == Op::Symbol) {
    return sym(static_cast<uint32_t>(tree.leaf));
  }
  std::optional<IntExpr> a = build(*tree.left);
  std::optional<IntExpr> b = build(*tree.right);
  if (!a || !b || (tree.op >= Op::FloorDiv && *b == IntExpr(0))) {
    return std::nullopt;
  }
  switch (tree.op) {
    case Op::Add:
      return *a + *b;
    case Op::Subtract:
      return *a - *b;
    case Op::Multiply:
      return *a * *b;
    case Op::FloorDiv:
      return floorDiv(*a, *b);
    case Op::FloorMod:
      return floorMod(*a, *b);
    default:
      return ceilDiv(*a, *b);
  }
}

IntExpr::SymbolValue lookUp(const Values& values) {
  return [&values](SymbolId id) { return std::optional<int64_t>(values[indexOf(id)]); };
}

bool fits(Wide value) { return value >= kMin && value <= kMax; }

constexpr int kTrees = 4000;
constexpr int64_t kBox = 4;  // brute force: every symbol in [0, kBox]

template <class F>
void forEachInBox(F&& f) {
  for (int64_t a = 0; a <= kBox; ++a) {
    for (int64_t b = 0; b <= kBox; ++b) {
      for (int64_t c = 0; c <= kBox; ++c) {
        f(Values{a, b, c});
      }
    }
  }
}

TEST(IntExprRandom, EvaluatesAsTheTreeDoes) {
  int compared = 0;
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    TreeMaker maker(seed);
    std::unique_ptr<Tree> tree = maker.make(4);
    std::optional<IntExpr> expr = build(*tree);
    for (int i = 0; i < 20; ++i) {
      Values values{maker.below(41) - 20, maker.below(9) - 4, maker.below(1000)};
      std::optional<Wide> expected = direct(*tree, values);
      if (!expected || !fits(*expected)) {
        continue;
      }
      ASSERT_TRUE(expr) << "seed " << seed << ": refused though it has a value";
      ASSERT_EQ(expr->evaluate(lookUp(values)), static_cast<int64_t>(*expected))
          << "seed " << seed << ": " << expr->toText() << " at " << values[0] << ", " << values[1]
          << ", " << values[2];
      ++compared;
    }
  }
  EXPECT_GT(compared, kTrees * 10);
}

TEST(IntExprRandom, SubstituteAgreesWithEvaluate) {
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    TreeMaker maker(seed);
    std::unique_ptr<Tree> tree = maker.make(4);
    std::optional<IntExpr> expr = build(*tree);
    Values values{maker.below(21) - 10, maker.below(9) - 4, maker.below(100)};
    std::optional<Wide> expected = direct(*tree, values);
    if (!expected || !fits(*expected)) {
      continue;
    }
    int64_t known = maker.below(8);
    IntExpr partly = expr->substitute([&](SymbolId id) {
      bool isKnown = ((known >> indexOf(id)) & 1) != 0;
      return isKnown ? std::optional<int64_t>(values[indexOf(id)]) : std::nullopt;
    });
    for (SymbolId left : partly.symbols()) {
      EXPECT_EQ((known >> indexOf(left)) & 1, 0) << "seed " << seed;
    }
    ASSERT_EQ(partly.evaluate(lookUp(values)), static_cast<int64_t>(*expected)) << "seed " << seed;
    ASSERT_EQ(expr->substitute(lookUp(values)), IntExpr(static_cast<int64_t>(*expected)))
        << "seed " << seed;
  }
}

TEST(IntExprRandom, BoundsHoldByBruteForce) {
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    std::unique_ptr<Tree> tree = TreeMaker(seed).make(4);
    std::optional<IntExpr> expr = build(*tree);
    if (!expr) {
      continue;
    }
    IntExpr::Bounds bounds = expr->bounds(kBox);
    forEachInBox([&](const Values& values) {
      std::optional<Wide> value = direct(*tree, values);
      if (value && fits(*value)) {
        ASSERT_TRUE(bounds.low <= *value && *value <= bounds.high)
            << "seed " << seed << ": " << expr->toText() << " in [" << bounds.low << ", "
            << bounds.high << "] at " << values[0] << ", " << values[1] << ", " << values[2];
      }
    });
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(IntExprRandom, MultiplesHoldByBruteForce) {
  int claims = 0;
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    std::unique_ptr<Tree> tree = TreeMaker(seed).make(4);
    std::optional<IntExpr> expr = build(*tree);
    for (int64_t divisor = 2; expr && divisor <= 8; ++divisor) {
      if (!expr->isMultipleOf(divisor)) {
        continue;
      }
      claims += expr->isConstant() ? 0 : 1;
      forEachInBox([&](const Values& values) {
        std::optional<Wide> value = direct(*tree, values);
        if (value) {
          ASSERT_EQ(static_cast<int64_t>(*value % divisor), 0)
              << "seed " << seed << ": " << expr->toText() << " by " << divisor;
        }
      });
      if (HasFatalFailure()) {
        return;
      }
    }
  }
  EXPECT_GT(claims, 100);
}

TEST(IntExprRandom, SumsAndProductsObeyTheLawsOfARing) {
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    TreeMaker maker(seed);
    std::optional<IntExpr> a = build(*maker.make(2));
    std::optional<IntExpr> b = build(*maker.make(2));
    std::optional<IntExpr> c = build(*maker.make(2));
    if (!a || !b || !c) {
      continue;
    }
    auto expectSame = [&](const IntExpr& x, const IntExpr& y) {
      ASSERT_EQ(x, y) << "seed " << seed << ": " << x.toText() << " and " << y.toText();
      ASSERT_EQ(x.hash(), y.hash()) << "seed " << seed;
      ASSERT_EQ(x.toText(), y.toText()) << "seed " << seed;
    };
    expectSame(*a + *b, *b + *a);
    expectSame(*a * *b, *b * *a);
    expectSame((*a + *b) + *c, *a + (*b + *c));
    expectSame((*a * *b) * *c, *a * (*b * *c));
    expectSame(*a * (*b + *c), *a * *b + *a * *c);
    expectSame((*a - *b) + *b, *a);
    expectSame(*a * 1, *a);
    expectSame(floorDiv(*a * 6, 6), *a);
    expectSame(floorDiv(*a * 6 + 5, 6), *a);
    expectSame(floorMod(*a * 6 + 5, 6), 5);
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(IntExprRandom, TextReadsBack) {
  for (uint64_t seed = 0; seed < kTrees; ++seed) {
    std::optional<IntExpr> expr = build(*TreeMaker(seed).make(4));
    if (!expr) {
      continue;
    }
    std::string text = expr->toText();
    TextCursor cursor(text, 1);
    IntExpr again = parseIntExpr(cursor, [](SymbolId) {});
    ASSERT_EQ(again, *expr) << "seed " << seed << ": " << text << " read as " << again.toText();
    ASSERT_TRUE(cursor.atEnd()) << text;
    ASSERT_EQ(again.toText(), text);
  }
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
