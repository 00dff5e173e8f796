// A fusion in double, and how many terms its results combine.
#include "meshfuse/frontend/validation.h"

#include <string>

#include <gtest/gtest.h>

#include "meshfuse/base/error.h"
#include "meshfuse/ir/parse.h"
#include "meshfuse/ir/print.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

Fusion read(std::string_view text) { return parse(text, findOp); }

InputShape tensor(std::vector<int64_t> sizes) { return {.sizes = std::move(sizes)}; }

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

TEST(ReductionSizes, AreWhatIsSummedOnTheLongestWay) {
  const Fusion fusion = read(
      "input tv0: Float[i0, i1, i2] contiguity(t, t, t)\n"
      "tv1: Float[i0, i1] = sum(tv0, [2], False, Null)\n"
      "tv2: Float[i1] = max(tv1, [0], False, Null)\n"
      "tv3: Float[i1] = neg(tv2)\n"
      "tv4: Float[i1, i0] = permute(tv1, [1, 0])\n"
      "tv5: Float[i1, i1] = matmul(tv4, tv1)\n"
      "output tv0\n"
      "output tv1\n"
      "output tv3\n"
      "output tv4\n"
      "output tv5\n");
  const InputShape input = tensor({2, 3, 5});
  EXPECT_EQ(reductionSizes(fusion, {&input, 1}), (std::vector<int64_t>{1, 5, 5, 5, 7}));
  const InputShape empty = tensor({2, 3, 0});
  EXPECT_EQ(reductionSizes(fusion, {&empty, 1}), (std::vector<int64_t>{1, 1, 1, 1, 2}));
}

TEST(ReductionSizes, SizesThatDoNotFitAreRefused) {
  const Fusion fusion = read(
      "input tv0: Float[4] contiguity(t)\n"
      "tv1: Float[4] = neg(tv0)\n"
      "output tv1\n");
  const InputShape input = tensor({5});
  try {
    reductionSizes(fusion, {&input, 1});
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("an input has the sizes that the definition states"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace meshfuse
