// Promotion: torch's against a table made by torch, the language's against its reference tables.
#include "meshfuse/types/promotion.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using enum PrimType;
using Operands = std::vector<PromotionOperand>;

constexpr PromotionOperand dim(PrimType type) { return {type, OperandGroup::DimTensor}; }
constexpr PromotionOperand zeroDim(PrimType type) { return {type, OperandGroup::ZeroDimTensor}; }
constexpr PromotionOperand scalar(PrimType type) { return {type, OperandGroup::Scalar}; }

std::string textOf(std::optional<PrimType> type) {
  return type ? std::string(nameOf(*type)) : "refused";
}

std::string textOf(const OpTypes& types) {
  return textOf(types.compute) + " -> " + textOf(types.result);
}

// ---- torch ----

std::ifstream openTorchTable() {
  std::string here = __FILE__;
  return std::ifstream(here.substr(0, here.rfind('/')) + "/torch_promotion.txt");
}

PromotionOperand readOperand(std::istream& in) {
  std::string group;
  std::string type;
  in >> group >> type;
  OperandGroup as = group == "dim"        ? OperandGroup::DimTensor
                    : group == "zero-dim" ? OperandGroup::ZeroDimTensor
                                          : OperandGroup::Scalar;
  return {primTypeFromName(type).value(), as};
}

TEST(TorchPromotion, AgreesWithTorchOnEveryPair) {
  std::ifstream table = openTorchTable();
  ASSERT_TRUE(table.is_open());
  int promoted = 0;
  int results = 0;
  for (std::string line; std::getline(table, line);) {
    std::istringstream in(line);
    std::string question;
    std::string a;
    std::string b;
    in >> question;
    std::optional<PrimType> ours;
    if (question == "promote") {
      in >> a >> b;
      ours = torchPromoteTypes(primTypeFromName(a).value(), primTypeFromName(b).value());
      ++promoted;
    } else if (question == "result") {
      PromotionOperand left = readOperand(in);
      PromotionOperand right = readOperand(in);
      ours = torchResultType(Operands{left, right});
      ++results;
    } else {
      continue;
    }
    std::string answer;
    in >> answer;
    EXPECT_EQ(textOf(ours), textOf(primTypeFromName(answer))) << line;
  }
  int types =
      static_cast<int>(std::count_if(allPrimTypes().begin(), allPrimTypes().end(),
                                     [](PrimType type) { return !torchNameOf(type).empty(); }));
  EXPECT_EQ(promoted, types * types);
  EXPECT_EQ(results, (2 * types + 4) * (2 * types + 4));
}

TEST(TorchPromotion, RefusesTypesTorchLacks) {
  EXPECT_EQ(torchPromoteTypes(Index, Index), std::nullopt);
  EXPECT_EQ(torchPromoteTypes(Float, Float4_e2m1fn), std::nullopt);
  EXPECT_EQ(torchPromoteTypes(Null, Float), std::nullopt);
  EXPECT_EQ(torchResultType(Operands{dim(Index), dim(Index)}), std::nullopt);
  EXPECT_EQ(torchResultType(Operands{}), std::nullopt);
}

TEST(TorchPromotion, FoldsWithinAGroupBeforeGroupsMeet) {
  EXPECT_EQ(torchResultType(Operands{dim(Half), dim(BFloat16), scalar(Double)}), Float);
  EXPECT_EQ(torchResultType(Operands{scalar(Int), zeroDim(Double), dim(Int32)}), Double);
  EXPECT_EQ(torchResultType(Operands{dim(Bool), scalar(Bool), scalar(Int)}), Int);
  EXPECT_EQ(torchResultType(Operands{dim(Int32), dim(Bool), zeroDim(Int)}), Int32);
  EXPECT_EQ(torchResultType(Operands{dim(Float8_e5m2), dim(Half), dim(Half)}), std::nullopt);
}

TEST(TorchPromotion, ScalarsCountByCategory) {
  EXPECT_EQ(torchResultType(Operands{dim(Int), scalar(Half)}), Float);
  EXPECT_EQ(torchResultType(Operands{dim(Bool), scalar(Int32)}), Int);
  EXPECT_EQ(torchResultType(Operands{scalar(Float)}), Float);
}

// ---- the language ----

struct PairRow {
  PrimType a;
  PrimType b;
  PrimType result;
};

TEST(LanguagePromotion, PairsFollowTheReference) {
  const PairRow rows[] = {
      {Bool, Bool, Bool},
      {Bool, Int32, Int32},
      {Bool, UInt64, UInt64},
      {Bool, Half, Half},
      {Bool, ComplexFloat, ComplexFloat},
      {Int32, Int, Int},
      {Index, Int, Index},
      {Index, Int32, Index},
      {Index, UInt64, Index},
      {Int, Half, Half},
      {Int32, Float8_e4m3fn, Float8_e4m3fn},
      {Index, Double, Double},
      {UInt64, Float, Float},
      {Float, Double, Double},
      {Half, Double, Double},
      {Half, Float, Float},
      {Half, BFloat16, Float},
      {Float8_e4m3fn, Float8_e5m2, Float},
      {Float4_e2m1fn, BFloat16, Float},
      {ComplexFloat, Double, ComplexDouble},
      {ComplexFloat, Float, ComplexFloat},
      {ComplexFloat, Half, ComplexFloat},
      {ComplexFloat, Int, ComplexFloat},
      {ComplexDouble, Int, ComplexDouble},
      {ComplexFloat, ComplexDouble, ComplexDouble},
  };
  for (const PairRow& row : rows) {
    EXPECT_EQ(textOf(promoteTypes(row.a, row.b)), textOf(row.result))
        << textOf(row.a) << " and " << textOf(row.b);
    EXPECT_EQ(textOf(promoteTypes(row.b, row.a)), textOf(row.result))
        << textOf(row.b) << " and " << textOf(row.a);
  }
}

/// The promoted type, or the text of the refusal.
template <class Promote>
std::string outcome(Promote promote) {
  try {
    return textOf(promote());
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Type);
    return error.what();
  }
}

TEST(LanguagePromotion, EveryPairIsSymmetricAndEqualTypesStay) {
  for (PrimType a : allPrimTypes()) {
    if (a != Null) {
      EXPECT_EQ(promoteTypes(a, a), a);
    }
    for (PrimType b : allPrimTypes()) {
      std::string ab = outcome([&] { return promoteTypes(a, b); });
      std::string ba = outcome([&] { return promoteTypes(b, a); });
      EXPECT_EQ(ab.find("type promotion: ") == 0, ba.find("type promotion: ") == 0);
      if (ab.find(':') == std::string::npos) {
        EXPECT_EQ(ab, ba);
      }
    }
  }
}

TEST(LanguagePromotion, RefusalsNameThePair) {
  EXPECT_EQ(outcome([] { return promoteTypes(Null, Float); }),
            "type promotion: every operand needs an element type: got Null and Float; name the "
            "type of each operand");
  EXPECT_EQ(outcome([] { return promoteTypes(Null, Null); }),
            "type promotion: every operand needs an element type: got Null and Null; name the "
            "type of each operand");
  EXPECT_EQ(outcome([] { return promoteTypes(UInt64, Int32); }),
            "type promotion: UInt64 combines with no signed integer type: got UInt64 and Int32; "
            "cast one of the two");
  EXPECT_EQ(outcome([] { return promoteOperands(Operands{dim(Half), scalar(ComplexDouble)}); }),
            "type promotion: a complex number needs a Float or Double tensor beside it: got Half "
            "and ComplexDouble; cast the tensor to Float");
  EXPECT_EQ(outcome([] { return promoteOperands(Operands{dim(Null)}); }),
            "type promotion: every operand needs an element type: got Null and Null; name the "
            "type of each operand");
}

struct OperandsRow {
  Operands operands;
  PrimType computed;
};

TEST(LanguagePromotion, LeftRightTableOfTheReference) {
  const OperandsRow rows[] = {
      {{dim(Int), scalar(Double)}, Double},   {{dim(Int32), scalar(Double)}, Double},
      {{dim(Bool), scalar(Double)}, Double},  {{dim(Int32), scalar(Int)}, Int32},
      {{dim(Bool), scalar(Int)}, Int},        {{dim(Float), scalar(Double)}, Float},
      {{dim(Float), zeroDim(Double)}, Float}, {{dim(Float), dim(Double)}, Double},
      {{dim(Half), scalar(Double)}, Float},   {{dim(Half), dim(BFloat16)}, Float},
      {{dim(Half), dim(Half)}, Float},        {{dim(Float), scalar(ComplexDouble)}, ComplexFloat},
      {{dim(Int32), dim(Int)}, Int},          {{scalar(Double), scalar(Int)}, Double},
  };
  for (const OperandsRow& row : rows) {
    Operands reversed(row.operands.rbegin(), row.operands.rend());
    for (const Operands& operands : {row.operands, reversed}) {
      OpTypes types = applyDtypeClass(DtypeClass::Promote, promoteOperands(operands)).value();
      EXPECT_EQ(textOf(types.compute), textOf(row.computed))
          << textOf(row.operands[0].type) << " with " << textOf(row.operands[1].type);
      EXPECT_EQ(types.result, types.compute);
    }
  }
}

TEST(LanguagePromotion, StepsOfTheAlgorithm) {
  const OperandsRow rows[] = {
      // 3: reduced scalars count as Float, unless everything agrees
      {{scalar(Half), scalar(Int)}, Float},
      {{dim(Int), scalar(BFloat16)}, Float},
      {{scalar(Half), scalar(Half)}, Half},
      {{dim(Half), scalar(Half)}, Half},
      // 4, 5: the zero-dim group meets the scalars first; a missing group is passed over
      {{zeroDim(Float), scalar(Double)}, Float},
      {{dim(Int), zeroDim(Float), scalar(Double)}, Float},
      {{dim(Int32), zeroDim(Int), scalar(Int)}, Int32},
      {{zeroDim(BFloat16)}, BFloat16},
      // 6: a complex higher group decides
      {{dim(ComplexFloat), zeroDim(ComplexDouble)}, ComplexFloat},
      {{dim(ComplexFloat), scalar(Double)}, ComplexFloat},
      // 7: a complex lower group takes the width of a floating higher one
      {{dim(Double), zeroDim(ComplexFloat)}, ComplexDouble},
      {{dim(Float), zeroDim(ComplexDouble)}, ComplexFloat},
      {{dim(Int), scalar(ComplexDouble)}, ComplexDouble},
      {{dim(Bool), zeroDim(ComplexFloat)}, ComplexFloat},
      // 8: otherwise a floating higher group decides
      {{dim(BFloat16), zeroDim(Double), scalar(Int)}, BFloat16},
      // 9: Bool above, or a floating group below
      {{dim(Bool), zeroDim(Int32)}, Int32},
      {{dim(Int32), zeroDim(Half)}, Half},
      // 10: otherwise the higher group
      {{dim(Int32), scalar(Bool)}, Int32},
      {{dim(UInt64), scalar(Int)}, UInt64},
  };
  for (const OperandsRow& row : rows) {
    EXPECT_EQ(textOf(promoteOperands(row.operands)), textOf(row.computed))
        << &row - rows << ": " << textOf(row.operands[0].type);
  }
  EXPECT_THROW(promoteOperands(Operands{}), InternalError);
}

struct ClassRow {
  DtypeClass dtypeClass;
  PrimType promoted;
  const char* types;  // compute -> result, or refused
};

TEST(LanguagePromotion, OperatorClasses) {
  using enum DtypeClass;
  const ClassRow rows[] = {
      {UnaryFloat, Bool, "Float -> Float"},
      {UnaryFloat, Int, "Float -> Float"},
      {UnaryFloat, Int32, "Float -> Float"},
      {UnaryFloat, Half, "Float -> Float"},
      {UnaryFloat, Float8_e4m3fn, "Float -> Float"},
      {UnaryFloat, Float, "Float -> Float"},
      {UnaryFloat, Double, "Double -> Double"},
      {UnaryFloat, ComplexFloat, "ComplexFloat -> ComplexFloat"},
      {UnaryReal, Int, "Float -> Float"},
      {UnaryReal, Half, "Float -> Float"},
      {UnaryReal, ComplexFloat, "refused"},
      {PromoteReal, Bool, "Bool -> Bool"},
      {PromoteReal, Half, "Float -> Float"},
      {PromoteReal, ComplexDouble, "refused"},
      {Interpolate, Bool, "refused"},
      {Interpolate, BFloat16, "Float -> Float"},
      {Interpolate, ComplexFloat, "ComplexFloat -> ComplexFloat"},
      {Modulus, Bool, "refused"},
      {Modulus, ComplexFloat, "refused"},
      {Modulus, Int32, "Int32 -> Int32"},
      {Modulus, Half, "Float -> Float"},
      {Angle, Bool, "Float -> Float"},
      {Angle, ComplexFloat, "refused"},
      {Order, Half, "Float -> Bool"},
      {Order, ComplexFloat, "refused"},
      {RealPredicate, Half, "Half -> Bool"},
      {RealPredicate, ComplexDouble, "refused"},
      {KeepFirst, Half, "Half -> Half"},
      {KeepFirst, ComplexDouble, "refused"},
      {Promote, Bool, "Bool -> Bool"},
      {Promote, Int, "Int -> Int"},
      {Promote, BFloat16, "Float -> Float"},
      {Promote, Float4_e2m1fn, "Float -> Float"},
      {Promote, Double, "Double -> Double"},
      {TrueDivide, Bool, "Float -> Float"},
      {TrueDivide, Int, "Float -> Float"},
      {TrueDivide, Half, "Float -> Float"},
      {TrueDivide, Double, "Double -> Double"},
      {TrueDivide, ComplexDouble, "ComplexDouble -> ComplexDouble"},
      {Compare, Int, "Int -> Bool"},
      {Compare, Half, "Float -> Bool"},
      {Logical, Float, "Bool -> Bool"},
      {Logical, Int, "Bool -> Bool"},
      {Bitwise, Bool, "Bool -> Bool"},
      {Bitwise, Int32, "Int32 -> Int32"},
      {Bitwise, Float, "refused"},
      {Bitwise, Half, "refused"},
      {Bitwise, ComplexFloat, "refused"},
      {Keep, Half, "Half -> Half"},
      {Keep, Int, "Int -> Int"},
      {KeepNumber, Half, "Half -> Half"},
      {KeepNumber, Int, "Int -> Int"},
      {KeepNumber, Bool, "refused"},
      {KeepNumber, ComplexFloat, "refused"},
      {Predicate, Half, "Half -> Bool"},
      {Predicate, Double, "Double -> Bool"},
      {Select, Half, "Half -> Half"},
      {Select, Int, "Int -> Int"},
      {Keep, Null, "refused"},
      {Promote, Null, "refused"},
      {Logical, Null, "refused"},
  };
  for (const ClassRow& row : rows) {
    std::optional<OpTypes> types = applyDtypeClass(row.dtypeClass, row.promoted);
    EXPECT_EQ(types ? textOf(*types) : "refused", row.types)
        << "class " << static_cast<char>('A' + static_cast<int>(row.dtypeClass)) << " of "
        << textOf(row.promoted);
  }
}

}  // namespace
}  // namespace meshfuse
