// A fusion in double, and one that returns what it would write.
#include "meshfuse/frontend/fusion_forms.h"

#include <gtest/gtest.h>

#include "meshfuse/ir/parse.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

Fusion read(std::string_view text) { return parse(text, findOp); }

TEST(InDouble, FloatingTypesBecomeDoubleAndComplexOnesComplexDouble) {
  const Fusion fusion = read(
      "input tv0: Half[i0, 4] contiguity(t, f)\n"
      "input tv1: ComplexFloat[i1] contiguity(t)\n"
      "constant c0: Float = 2.5\n"
      "tv2: Float[i0, 4] = mul(tv0, c0)\n"
      "tv3: BFloat16[i0, 4] = cast(tv2, BFloat16)\n"
      "tv4: Float[i0] = sum(tv3, [1], False, Float)\n"
      "tv5: ComplexFloat[i1] = neg(tv1)\n"
      "output tv4\n"
      "output tv5\n"
      "output tv3\n");
  EXPECT_EQ(print(inDouble(fusion)), print(read("input tv0: Double[i0, 4] contiguity(t, f)\n"
                                                "input tv1: ComplexDouble[i1] contiguity(t)\n"
                                                "constant c0: Double = 2.5\n"
                                                "tv2: Double[i0, 4] = mul(tv0, c0)\n"
                                                "tv3: Double[i0, 4] = cast(tv2, Double)\n"
                                                "tv4: Double[i0] = sum(tv3, [1], False, Double)\n"
                                                "tv5: ComplexDouble[i1] = neg(tv1)\n"
                                                "output tv4\n"
                                                "output tv5\n"
                                                "output tv3\n")));
}

TEST(InDouble, OtherTypesShapesAndLayoutsStay) {
  Fusion fusion;
  const ValId a = fusion.addInputTensor(PrimType::Int, std::vector<int64_t>{-1, 1, 3},
                                        {true, std::nullopt, true}, {0, 1, 2});
  const ValId b =
      fusion.addInputTensor(PrimType::Bool, std::vector<int64_t>{-1, 7}, {true, std::nullopt});
  const ValId c = fusion.addInputScalar(PrimType::Int);
  fusion.addOutput(addCall(fusion, *findOp("add"), {a, c}).front());
  fusion.addOutput(b);
  EXPECT_TRUE(sameDefinition(inDouble(fusion), fusion)) << print(inDouble(fusion));
}

TEST(InDouble, WritesStay) {
  const std::string values =
      "tv2: Double[i0] = neg(tv0)\n"
      "output tv2 into tv1\n"
      "output tv2\n"
      "output tv2 into tv0\n";
  const std::string inputs =
      "input tv0: Double[i0] contiguity(t)\ninput tv1: Double[i1] contiguity(t)\n";
  std::string halves = inputs + values;
  for (size_t at = 0; (at = halves.find("Double", at)) != std::string::npos;) {
    halves.replace(at, 6, "Half");
  }
  EXPECT_EQ(print(inDouble(read(halves))), inputs + values);
}

TEST(WithoutWrites, WhatIsWrittenIsReturnedAfterTheOutputs) {
  const std::string values =
      "input tv0: Half[i0] contiguity(t)\n"
      "input tv1: Half[i1] contiguity(t)\n"
      "input c0: Int i2\n"
      "constant c1: Double = 0.5\n"
      "tv2: Half[i0] = relu(tv0)\n"
      "tv3: Float[i0] = mul(tv2, c1)\n"
      "tv4: Half[i0] = cast(tv3, Half)\n";
  EXPECT_EQ(print(withoutWrites(read(values + "output tv4 into tv1\noutput tv3\noutput tv2 into "
                                              "tv0\noutput tv4\n"))),
            values + "output tv3\noutput tv4\noutput tv4\noutput tv2\n");
  const Fusion plain = read(values + "output tv4\n");
  EXPECT_TRUE(sameDefinition(withoutWrites(plain), plain));
}

}  // namespace
}  // namespace meshfuse
