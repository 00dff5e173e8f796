// The Python text of a fusion.
#include "meshfuse/frontend/definition_source.h"

#include <gtest/gtest.h>

#include "meshfuse/frontend/ops.h"

namespace meshfuse {
namespace {

std::string bodyOf(const FusionDefinition& fd) {
  const std::string text = definitionSource(fd.fusion());
  const std::string header = "def nvfuser_fusion(fd : FusionDefinition) -> None :\n";
  EXPECT_EQ(text.substr(0, header.size()), header);
  return text.substr(header.size());
}

TEST(DefinitionSource, WritesInputsCallsAndOutputs) {
  FusionDefinition fd;
  const ValueHandle a =
      fd.defineTensor({-1, 1, 3}, {std::nullopt, true, true}, PrimType::Half, false, {0, 2, 1});
  const ValueHandle s = fd.defineScalar(PrimType::Float);
  const ValueHandle half = fd.defineConstant(0.5, PrimType::Float);
  const ValueHandle condition = lang::lt(a, 0);
  const ValueHandle scaled = lang::mul(a, s);
  const ValueHandle shifted = lang::add(a, half);
  const ValueHandle b = lang::where(condition, scaled, shifted);
  fd.addOutput(lang::sum(b, {0, 2}, true));
  fd.addOutput(a);
  EXPECT_EQ(bodyOf(fd),
            "    tv0 = fd.define_tensor(shape=[-1, 1, 3], contiguity=[None, True, True], "
            "dtype=DataType.Half, "
            "is_cpu=False, stride_order=[0, 2, 1])\n"
            "    c0 = fd.define_scalar(None, dtype=DataType.Float)\n"
            "    c1 = fd.define_scalar(0.5, dtype=DataType.Float)\n"
            "    tv1 = fd.ops.lt(tv0, 0)\n"
            "    tv2 = fd.ops.mul(tv0, c0)\n"
            "    tv3 = fd.ops.add(tv0, c1)\n"
            "    tv4 = fd.ops.where(tv1, tv2, tv3)\n"
            "    tv5 = fd.ops.sum(tv4, dims=[0, 2], keepdim=True)\n"
            "    fd.add_output(tv5)\n"
            "    fd.add_output(tv0)\n");
}

TEST(DefinitionSource, WritesTwoResultsOnOneLine) {
  FusionDefinition fd;
  const auto [variance, mean] = lang::var_mean(fd.defineTensor({4, 5}), {1}, 0);
  fd.addOutput(mean);
  EXPECT_NE(
      bodyOf(fd).find(
          "    tv1, tv2 = fd.ops.var_mean(tv0, dims=[1], correction=0)\n    fd.add_output(tv2)\n"),
      std::string::npos)
      << bodyOf(fd);
}

TEST(DefinitionSource, WritesWhatIsWrittenIntoInputs) {
  FusionDefinition fd;
  const ValueHandle a = fd.defineTensor({4});
  const ValueHandle b = fd.defineTensor({4});
  const ValueHandle c = lang::neg(a);
  fd.addOutput(c, b);
  fd.addOutput(c);
  fd.addOutput(b, a);
  const std::string body = bodyOf(fd);
  EXPECT_TRUE(
      body.ends_with("    tv2 = fd.ops.neg(tv0)\n"
                     "    tv3 = fd.ops.set(tv1)\n"
                     "    fd.add_output(tv2, alias_input=tv1)\n"
                     "    fd.add_output(tv2)\n"
                     "    fd.add_output(tv3, alias_input=tv0)\n"))
      << body;
}

TEST(DefinitionSource, AnEmptyFusionIsAFunctionToo) {
  EXPECT_EQ(bodyOf(FusionDefinition()), "    pass\n");
}

TEST(DefinitionSource, DescribesValues) {
  FusionDefinition fd;
  EXPECT_EQ(fd.defineTensor({2, -1}).toText(), "tv0: Float[2, i0]");
  EXPECT_EQ(fd.defineScalar().toText(), "c0: Double");
  EXPECT_EQ(fd.defineConstant(3).toText(), "c1: Int = 3");
}

}  // namespace
}  // namespace meshfuse
