// Reading fusions back: text to text over examples, and the errors.
#include "meshfuse/ir/parse.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "ir/sample_ops.h"
#include "meshfuse/base/error.h"
#include "meshfuse/ir/print.h"

namespace meshfuse {
namespace {

using testing::findSampleOp;
using testing::kMix;

void expectReadsBack(const std::string& text) { EXPECT_EQ(print(parse(text, findSampleOp)), text); }

TEST(Parse, ReadsWhatPrintWrites) {
  expectReadsBack("");
  expectReadsBack(
      "input tv0: Float[i0, 4] contiguity(t, t)\n"
      "input tv1: Half[4, i1, b1] contiguity(n, f, t) stride_order(1, 2, 0)\n"
      "input c0: Int i2\n"
      "constant c1: Double = 0.5\n"
      "c2: Int i3 = mix(c0, 2)\n"
      "tv2: Float[i0, 4] = mix(tv0, c1)\n"
      "tv3: Float[i0], tv4: Float[i3*4 + i0/2] = halves(tv2)\n"
      "value tv5: Bool[]\n"
      "output tv3\n"
      "output tv3\n");
}

TEST(Parse, ReadsEveryElementType) {
  std::string text;
  for (PrimType type : allPrimTypes()) {
    text.append("input tv").append(std::to_string(static_cast<int>(type))).append(": ");
    text.append(nameOf(type)).append("[2] contiguity(t)\n");
  }
  for (PrimType type : allPrimTypes()) {
    size_t number = allPrimTypes().size() + static_cast<size_t>(type);
    text.append("tv" + std::to_string(number) +
                ": Float[2] = all_kinds(tv0, None, None, None, None, ");
    text.append(nameOf(type)).append(")\n");
  }
  expectReadsBack(text);
}

TEST(Parse, ReadsEveryNumber) {
  double inf = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  using Complex = Scalar::Complex;
  std::vector<Scalar> numbers{true,
                              false,
                              Scalar(0),
                              Scalar(-7),
                              Scalar(std::numeric_limits<int64_t>::max()),
                              Scalar(std::numeric_limits<int64_t>::min()),
                              0.0,
                              -0.0,
                              1.0,
                              -2.5,
                              1e-5,
                              1e300,
                              5e-324,
                              0.1,
                              1e16,
                              inf,
                              -inf,
                              nan,
                              Complex(1, 2),
                              Complex(1, -2),
                              Complex(-1.5, 0),
                              Complex(0, 0),
                              Complex(1e-7, 1e20),
                              Complex(-0.0, 0),
                              Complex(0, -0.0),
                              Complex(nan, inf),
                              Complex(-inf, 1),
                              Complex(2, nan)};
  Fusion fusion;
  for (const Scalar& number : numbers) {
    fusion.addScalar(number.type(), number);
    fusion.addScalarExpr(kMix, {number, number}, number.type());
  }
  std::string text = print(fusion);
  Fusion again = parse(text, findSampleOp);
  EXPECT_EQ(print(again), text);
  EXPECT_TRUE(sameDefinition(again, fusion)) << text;
}

TEST(Parse, ReadsShardings) {
  expectReadsBack(
      "input tv0: Float[i0, 4] @ DeviceMesh{0 1} cpu (S(0)) contiguity(t, t)\n"
      "input tv1: Float[8, 4] @ DeviceMesh{(0 1) (2 3)} cuda (R, P(avg)) contiguity(t, t)\n"
      "tv2: Float[8] @ DeviceMesh{((7) (5)) ((3) (1))} meta (S(0), _S(0, 2), P(product)) = "
      "negate(tv1)\n"
      "tv3: Float[8] @ DeviceMesh{4} cpu (P(sum)) = negate(tv1)\n"
      "tv4: Float[8] @ DeviceMesh{(0 1 2)} cpu (P(max), P(min)) = negate(tv1)\n");
  TensorType type;
  type.sharding = intern(
      makeSharding(DeviceMesh::fromShape({16, 8}), MeshDevice::Cpu, {Placement::shard(0), {}}));
  std::string text = "value tv0: " + toText(type) + "\n";
  EXPECT_EQ(parse(text, findSampleOp).vals()[0].tensor().sharding, type.sharding) << text;
  expectReadsBack(text);
  type.sharding =
      intern(makeSharding(DeviceMesh::fromCount(100), MeshDevice::Cpu, {Placement::shard(0)}));
  expectReadsBack("value tv0: " + toText(type) + "\n");
}

TEST(Parse, SkipsSpacesAndEmptyLines) {
  std::string text =
      "\n  input tv0 :Float [ i0,4 ]contiguity( t,f )\n\n \ttv1: Float[i0]=negate( tv0 )\noutput "
      "tv1";
  EXPECT_EQ(print(parse(text, findSampleOp)),
            "input tv0: Float[i0, 4] contiguity(t, f)\n"
            "tv1: Float[i0] = negate(tv0)\n"
            "output tv1\n");
}

TEST(Parse, KeepsWhatBindsSymbols) {
  expectReadsBack("input tv0: Float[8, i1] contiguity(t, t)\nsymbol i0 = tv0[0]\n");
  expectReadsBack(
      "input tv0: Float[i1] contiguity(t)\n"
      "input c0: Double\n"
      "symbol i0 = tv0[0]\n"
      "symbol i1 = c0\n");
  expectReadsBack("value c0: Double\ninput c1: Double\ninput c0\n");
}

std::string errorOf(const std::string& text) {
  try {
    parse(text, findSampleOp);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    return error.what();
  }
  return "no error";
}

void expectError(const std::string& text, const std::string& expected, const std::string& found) {
  EXPECT_EQ(errorOf(text),
            "parse: expected " + expected + ": " + found + "; write the text as print gives it");
}

const std::string kInput = "input tv0: Float[i0, 4] contiguity(t, t)\n";

TEST(ParseErrors, NameTheLineAndWhatWasExpected) {
  expectError(kInput + "tv1: Float[i0] = negate(tv0", "','", "line 2 has the end at column 28");
  expectError(kInput + "\noutput tv1\n", "the name of a value defined above",
              "line 3 has 'tv1' at column 8");
  expectError(kInput + "tv1: Float[i0] = frobnicate(tv0)", "the name of an operation",
              "line 2 has 'frobnicate(tv0)' at column 18");
  expectError(kInput + "tv1: Flaot[i0] = negate(tv0)", "an element type such as Float",
              "line 2 has 'Flaot[i0] = negate(tv0)' at column 6");
  expectError(kInput + "tv2: Float[i0] = negate(tv0)",
              "the name 'tv1' instead of 'tv2' before this", "line 2 has the end at column 29");
  expectError(kInput + "tv1: Float[i0] = negate(tv0) negate", "the end of the line",
              "line 2 has 'negate' at column 30");
  expectError("42", "the name of a value, such as tv0, or input, value, constant, symbol or output",
              "line 1 has '42' at column 1");
}

TEST(ParseErrors, InCalls) {
  expectError(kInput + "tv1: Float[i0] = negate(tv0, tv0)",
              "1 arguments for 'negate' instead of 2 before this",
              "line 2 has the end at column 34");
  expectError(kInput + "tv1: Float[i0], tv2: Float[i0] = negate(tv0)",
              "1 outputs of 'negate' that are tensors, or one scalar, in this line",
              "line 2 has the end at column 45");
  expectError(kInput + "c0: Float, c1: Float = halves(tv0)",
              "2 outputs of 'halves' that are tensors, or one scalar, in this line",
              "line 2 has the end at column 35");
  expectError(kInput + "tv1: Float[i0] = negate(tv1)",
              "an argument: a value defined above, a number, a list, an element type or None",
              "line 2 has 'tv1)' at column 25");
  expectError(kInput + "tv1: Float[4] = mix(tv0, 1e999)", "a number in the range of a double",
              "line 2 has '1e999)' at column 26");
  expectError(kInput + "tv1: Float[4] = mix(tv0, 9223372036854775808)", "an integer of 64 bits",
              "line 2 has '9223372036854775808)' at column 26");
  expectError(kInput + "tv1: Float[4] = mix(tv0, float(\"big\"))", "inf, -inf or nan",
              "line 2 has 'big\"))' at column 33");
}

TEST(ParseErrors, InInputsAndOutputs) {
  expectError(kInput + "input tv0", "each input once; 'tv0' before this is one already",
              "line 2 has the end at column 10");
  expectError("constant c0: Double = 0.5\noutput c0", "a tensor before this; 'c0' is a scalar",
              "line 2 has the end at column 10");
}

TEST(ParseErrors, InTypes) {
  expectError("input tv0: Float[i0/0]", "a divisor other than 0", "line 1 has ']' at column 22");
  expectError("input tv0: Float[b] contiguity(n)", "a number or a symbol such as i0",
              "line 1 has '] contiguity(n)' at column 19");
  expectError("input tv0: Float[bx]", "an extent after 'b', as in b1 or b(i0), before this",
              "line 1 has ']' at column 20");
  expectError("input tv0: Float[4] contiguity(x)", "t, f or n", "line 1 has 'x)' at column 32");
  expectError(
      "input tv0: Float[i0*9223372036854775807*2]",
      "a legal expression before this (integer expression: sizes and their products must fit "
      "in 64 bits: the product of 9223372036854775807 and 2 overflows; use smaller sizes)",
      "line 1 has ']' at column 42");
  std::string deep = "input tv0: Float[" + std::string(100000, '(') + "i0";
  EXPECT_NE(errorOf(deep).find("an expression of at most 256 nested parentheses"),
            std::string::npos);
}

TEST(ParseErrors, InShardings) {
  std::string start = "value tv0: Float[4] @ ";
  expectError(start + "DeviceMesh{0 1} tpu (R)", "a device type: cpu, cuda or meta",
              "line 1 has 'tpu (R)' at column 39");
  expectError(start + "DeviceMesh{0 1} cpu (Q)", "a placement: R, S(0), _S(0, 2) or P(sum)",
              "line 1 has 'Q)' at column 44");
  expectError(start + "DeviceMesh{0 1} cpu (P(mean))", "a reduction: sum, avg, max, min or product",
              "line 1 has 'mean))' at column 46");
  expectError(start + "DeviceMesh{(0 1) (2)} cpu (R, R)",
              "a mesh with groups of one size, before this",
              "line 1 has '} cpu (R, R)' at column 43");
  EXPECT_NE(
      errorOf(start + "DeviceMesh{0 0} cpu (R)").find("a legal mesh before this (DeviceMesh: "),
      std::string::npos);
  EXPECT_NE(errorOf(start + "DeviceMesh{0 1} cpu (R, R)")
                .find("a legal sharding before this (Sharding: "),
            std::string::npos);
}

TEST(ParseErrors, InSymbols) {
  EXPECT_EQ(
      errorOf(kInput + "\ntv1: Float[i7] = negate(tv0)"),
      "parse: expected symbols that are numbered from i0 and bound by a value: line 3 has i7, "
      "which nothing binds; bind it by an input's size or by a line such as 'symbol i0 = tv0[0]'");
  EXPECT_EQ(
      errorOf("input tv0: Float[i2]"),
      "parse: expected symbols that are numbered from i0 and bound by a value: line 1 has i2, but "
      "no i0 is bound; bind it by an input's size or by a line such as 'symbol i0 = tv0[0]'");
}

}  // namespace
}  // namespace meshfuse
