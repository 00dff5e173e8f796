// Random integer expressions against direct evaluation of the trees they are built from.
#include <array>
#include <limits>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "meshfuse/ir/int_expr.h"
#include "meshfuse/ir/parse_types.h"

namespace meshfuse {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

IntExpr sym(uint32_t id) { return IntExpr::symbol(SymbolId{id}); }

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

}  // namespace
}  // namespace meshfuse
