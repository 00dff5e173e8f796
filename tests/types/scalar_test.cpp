// Scalars: kinds, conversion, casting to a type, text that Python reads back, sameness and hash.
#include "meshfuse/types/scalar.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using enum PrimType;
using Complex = Scalar::Complex;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Scalar, KnowsItsKind) {
  EXPECT_TRUE(Scalar(true).isBool());
  EXPECT_TRUE(Scalar(3).isInt());
  EXPECT_TRUE(Scalar(int64_t{3}).isInt());
  EXPECT_TRUE(Scalar(3.0).isDouble());
  EXPECT_TRUE(Scalar(3.0F).isDouble());
  EXPECT_TRUE(Scalar(Complex(1, 2)).isComplex());
  EXPECT_TRUE(Scalar().isSame(Scalar(false)));
  EXPECT_EQ(Scalar(true).type(), Bool);
  EXPECT_EQ(Scalar(1).type(), Int);
  EXPECT_EQ(Scalar(1.0).type(), Double);
  EXPECT_EQ(Scalar(Complex()).type(), ComplexDouble);
  EXPECT_EQ(Scalar(1).category(), TypeCategory::Integral);
}

TEST(Scalar, ConvertsBetweenKinds) {
  EXPECT_EQ(Scalar(true).toInt(), 1);
  EXPECT_EQ(Scalar(-2.9).toInt(), -2);
  EXPECT_EQ(Scalar(Complex(7.5, 3)).toInt(), 7);
  EXPECT_EQ(Scalar(Complex(7.5, 3)).toDouble(), 7.5);
  EXPECT_EQ(Scalar(kMin).toInt(), kMin);
  EXPECT_EQ(Scalar(-3).toComplex(), Complex(-3, 0));
  EXPECT_TRUE(Scalar(kNan).toBool());
  EXPECT_TRUE(Scalar(Complex(0, 1)).toBool());
  EXPECT_FALSE(Scalar(-0.0).toBool());
  EXPECT_TRUE(Scalar(-1).toBool());
}

TEST(Scalar, LargeIntegersKeepEveryBit) {
  EXPECT_EQ(Scalar(kMax).toInt(), kMax);
  EXPECT_EQ(Scalar(kMax).castTo(Int).toInt(), kMax);
  EXPECT_EQ(Scalar(-0x1p63).toInt(), kMin);
  EXPECT_EQ(Scalar(0x1.fffffffffffffp62).toInt(), kMax - 1023);
}

struct CastRow {
  Scalar value;
  PrimType type;
  Scalar result;
};

TEST(Scalar, CastsToTheKindOfAType) {
  const CastRow rows[] = {
      {2.5, Bool, true},
      {0, Bool, false},
      {true, Int, 1},
      {2.9, Int, 2},
      {-2.9, Int32, -2},
      {3, Float, 3.0},
      {0.1, Half, 0.1},
      {true, BFloat16, 1.0},
      {Complex(1.5, 2), Double, 1.5},
      {3, ComplexFloat, Complex(3, 0)},
      {7, Index, 7},
  };
  for (const CastRow& row : rows) {
    EXPECT_TRUE(row.value.castTo(row.type).isSame(row.result))
        << row.value.toText() << " to " << nameOf(row.type) << " gives "
        << row.value.castTo(row.type).toText();
  }
}

TEST(Scalar, IntegersWrapToTheWidthOfTheType) {
  const CastRow rows[] = {
      {int64_t{1} << 31, Int32, -(int64_t{1} << 31)},
      {(int64_t{1} << 32) + 5, Int32, 5},
      {int64_t{-1} << 33, Int32, 0},
      {kMax, Int32, -1},
      {kMax, Index, kMax},
      {-1, UInt64, -1},  // the 64 bits of 2^64 - 1
      {0x1p63, UInt64, kMin},
      {0x1.8p63, UInt64, -(int64_t{1} << 62)},
  };
  for (const CastRow& row : rows) {
    EXPECT_TRUE(row.value.castTo(row.type).isSame(row.result))
        << row.value.toText() << " to " << nameOf(row.type) << " gives "
        << row.value.castTo(row.type).toText();
  }
}

std::string refusal(const Scalar& value, PrimType type) {
  try {
    return "gives " + value.castTo(type).toText();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), type == Null ? ErrorKind::Type : ErrorKind::Value);
    return error.what();
  }
}

TEST(Scalar, NumbersBeyondAnIntegerTypeAreRefused) {
  std::vector<std::pair<double, std::string>> numbers = {
      {kNan, "nan"}, {kInf, "inf"}, {-kInf, "-inf"}, {1e300, "1e+300"}};
  for (const auto& [number, text] : numbers) {
    for (PrimType type : {Int, Int32, UInt64, Index}) {
      std::string expected = "cast: a number that becomes " + std::string(nameOf(type)) +
                             " must be finite and in that type's range: got " + text +
                             "; clamp the number or cast it to a floating type";
      EXPECT_EQ(refusal(number, type), expected);
      EXPECT_EQ(refusal(Complex(number, 0), type), expected);
    }
  }
  EXPECT_THROW(Scalar(kNan).toInt(), UserError);
  EXPECT_THROW(Scalar(0x1p63).toInt(), UserError);
}

TEST(Scalar, RangesEndWhereTheTypesDo) {
  EXPECT_EQ(refusal(2147483647.9, Int32), "gives 2147483647");
  EXPECT_EQ(refusal(-2147483648.9, Int32), "gives -2147483648");
  EXPECT_EQ(refusal(-0.9, UInt64), "gives 0");
  EXPECT_NE(refusal(2147483648.0, Int32).find("got 2147483648.0;"), std::string::npos);
  EXPECT_NE(refusal(-1.0, UInt64).find("got -1.0;"), std::string::npos);
  EXPECT_NE(refusal(0x1p64, UInt64).find("got 1.8446744073709552e+19;"), std::string::npos);
}

TEST(Scalar, NullIsNoTypeToCastTo) {
  EXPECT_EQ(refusal(3, Null),
            "cast: a number can only become an element type: got Null for 3; name the type, as in "
            "DataType.Float");
}

TEST(Scalar, TextIsPython) {
  const std::pair<Scalar, const char*> rows[] = {
      {true, "True"},
      {false, "False"},
      {-3, "-3"},
      {kMin, "-9223372036854775808"},
      {0.5, "0.5"},
      {2.0, "2.0"},
      {-0.0, "-0.0"},
      {1e16, "1e+16"},
      {123456789.0, "123456789.0"},
      {0.1 + 0.2, "0.30000000000000004"},
      {kInf, "float(\"inf\")"},
      {-kInf, "float(\"-inf\")"},
      {kNan, "float(\"nan\")"},
      {Complex(1, 2), "(1+2j)"},
      {Complex(1.5, -0.25), "(1.5-0.25j)"},
      {Complex(0, 0), "(0+0j)"},
      {Complex(1e20, 1e-7), "(1e+20+1e-07j)"},
      {Complex(-0.0, 1), "complex(-0.0, 1.0)"},
      {Complex(1, -0.0), "complex(1.0, -0.0)"},
      {Complex(kNan, -kInf), "complex(float(\"nan\"), float(\"-inf\"))"},
  };
  for (const auto& [value, text] : rows) {
    EXPECT_EQ(value.toText(), text);
  }
}

std::vector<Scalar> distinctScalars() {
  return {false,
          true,
          0,
          1,
          -1,
          kMin,
          kMax,
          0.0,
          -0.0,
          1.0,
          kNan,
          kInf,
          -kInf,
          Complex(0, 0),
          Complex(-0.0, 0),
          Complex(0, -0.0),
          Complex(1, 0),
          Complex(0, 1),
          Complex(kNan, 0),
          Complex(0, kNan)};
}

TEST(Scalar, SameIsSameKindAndSameValue) {
  std::vector<Scalar> scalars = distinctScalars();
  for (size_t i = 0; i < scalars.size(); ++i) {
    for (size_t j = 0; j < scalars.size(); ++j) {
      EXPECT_EQ(scalars[i].isSame(scalars[j]), i == j)
          << scalars[i].toText() << " and " << scalars[j].toText();
      EXPECT_EQ(scalars[i].hash() == scalars[j].hash(), i == j)
          << scalars[i].toText() << " and " << scalars[j].toText();
    }
  }
}

TEST(Scalar, EveryNanIsTheSame) {
  Scalar other(std::copysign(kNan, -1.0));
  EXPECT_TRUE(other.isSame(Scalar(kNan)));
  EXPECT_EQ(other.hash(), Scalar(kNan).hash());
  EXPECT_TRUE(Scalar(Complex(-kNan, 1)).isSame(Complex(kNan, 1)));
  EXPECT_EQ(Scalar(Complex(-kNan, 1)).hash(), Scalar(Complex(kNan, 1)).hash());
}

}  // namespace
}  // namespace meshfuse
