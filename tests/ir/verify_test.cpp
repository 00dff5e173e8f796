// One test a rule: a legal fusion, broken in one way, and what verification says of it.
#include "meshfuse/ir/verify.h"

#include <gtest/gtest.h>

#include "ir/sample_ops.h"
#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using testing::kAll;
using testing::kMix;
using testing::kNegate;
using Texts = std::vector<std::string>;

const std::vector<int64_t> kShape{-1, 4};

/// tv0 and tv1 are inputs, tv2 = mix(tv0, tv1) is the output.
struct Sample {
  Fusion fusion;
  ValId a, b, out;
  TensorType type;

  Sample() {
    a = fusion.addInputTensor(PrimType::Float, kShape, {true, true});
    b = fusion.addInputTensor(PrimType::Float, kShape, {true, true});
    type = {.domain = fusion.val(a).tensor().domain};
    out = fusion.expr(fusion.addExpr(kMix, {a, b}, {type})).outputs[0];
    fusion.addOutput(out);
  }

  TensorType& typeOf(ValId id) { return fusion.val(id).tensor(); }
};

TEST(Verify, ALegalFusionBreaksNothing) {
  Sample sample;
  ValId constant = sample.fusion.addScalar(PrimType::Double, Scalar(0.5));
  sample.fusion.addExpr(kMix, {sample.out, constant}, {sample.type});
  sample.fusion.addExpr(kAll,
                        {sample.out, Scalar(2.0), Scalar(1), Ints{0}, Scalar(true), PrimType::Half},
                        {sample.type});
  sample.fusion.addExpr(kAll, {sample.out, Arg(), Arg(), Arg(), Arg(), Arg()}, {sample.type});
  EXPECT_EQ(violations(sample.fusion), Texts{});
  EXPECT_NO_THROW(verify(sample.fusion, "test"));
  EXPECT_EQ(violations(Fusion()), Texts{});
}

TEST(Verify, ThrowsAnInternalErrorThatNamesThePassAndAllViolations) {
  Sample sample;
  sample.typeOf(sample.a).strideOrder = {1, 1};
  sample.typeOf(sample.out).isCpuScalar = true;
  try {
    verify(sample.fusion, "dead code");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_STREQ(
        error.what(),
        "internal error (a bug in meshfuse): the fusion is not legal after dead code: 'tv0' "
        "has stride order [1, 1] but must have a permutation for rank 2; 'tv2' is a CPU "
        "scalar of rank 2 but must have rank 0");
  }
}

TEST(Verify, ValuesAreDefinedBeforeUse) {
  Sample sample;
  sample.fusion.addExpr(kNegate, {ValId{4}}, {sample.type});
  sample.fusion.addExpr(kNegate, {sample.out}, {sample.type});
  EXPECT_EQ(violations(sample.fusion),
            Texts{"call 1 of 'negate' uses 'tv4' before its definition"});
}

TEST(Verify, ACallMayNotUseItsOwnOutput) {
  Sample sample;
  sample.fusion.addExpr(kNegate, {ValId{3}}, {sample.type});
  EXPECT_EQ(violations(sample.fusion),
            Texts{"call 1 of 'negate' uses 'tv3' before its definition"});
}

TEST(Verify, UsedValuesAreDefinedOrInputs) {
  Sample sample;
  ValId free = sample.fusion.addTensor(sample.type);
  EXPECT_EQ(violations(sample.fusion), Texts{});
  sample.fusion.addExpr(kNegate, {free}, {sample.type});
  EXPECT_EQ(violations(sample.fusion),
            Texts{"call 1 of 'negate' uses 'tv3', which has no definition and is no input"});
}

TEST(Verify, UsedValuesExist) {
  Sample sample;
  sample.fusion.addExpr(kNegate, {ValId{99}}, {sample.type});
  EXPECT_EQ(violations(sample.fusion),
            Texts{"call 1 of 'negate' uses value 99, which does not exist, as 'a'"});
}

TEST(Verify, ValuesAreDefinedOnce) {
  Sample sample;
  ExprId second = sample.fusion.addExpr(kNegate, {sample.out}, {sample.type});
  ValId negated = sample.fusion.expr(second).outputs[0];
  sample.fusion.val(negated).definition = ExprId{0};
  EXPECT_EQ(violations(sample.fusion),
            (Texts{"'tv3' names call 0 as its definition, which does not give it",
                   "call 1 of 'negate' gives 'tv3' but must be its one definition"}));
}

TEST(Verify, InputsHaveNoDefinition) {
  Sample sample;
  sample.fusion.addInput(sample.out);
  EXPECT_EQ(violations(sample.fusion), (Texts{"'tv2' has 0 contiguity entries but must have 2",
                                              "input 'tv2' has a definition or is a constant"}));
}

TEST(Verify, InputsAreNoConstants) {
  Sample sample;
  sample.fusion.addInput(sample.fusion.addScalar(PrimType::Double, Scalar(0.5)));
  EXPECT_EQ(violations(sample.fusion), Texts{"input 'c0' has a definition or is a constant"});
}

TEST(Verify, ArgumentsFitTheirParametersCount) {
  Sample sample;
  OpDescriptor op = kNegate;
  sample.fusion.addExpr(op, {sample.out}, {sample.type});
  op.params.push_back({"b", ParamKind::Tensor});
  EXPECT_EQ(violations(sample.fusion), Texts{"call 1 of 'negate' has 1 arguments but must have 2"});
}

TEST(Verify, ArgumentsFitTheirParametersKinds) {
  auto check = [](size_t position, Arg arg) {
    Sample sample;
    ValId scalar = sample.fusion.addInputScalar(PrimType::Double);
    std::vector<Arg> args{sample.out, scalar, Scalar(1), Ints{}, Scalar(false), PrimType::Int};
    args[position] = std::move(arg);
    sample.fusion.addExpr(kAll, std::move(args), {sample.type});
    Texts found = violations(sample.fusion);
    EXPECT_LE(found.size(), 1u);
    return found.empty() ? "" : found[0];
  };
  std::string call = "call 1 of 'all_kinds' has ";
  EXPECT_EQ(check(0, Scalar(1.0)), call + "1.0 for 'a' but must have a tensor");
  EXPECT_EQ(check(0, ValId{3}), call + "c0 for 'a' but must have a tensor");
  EXPECT_EQ(check(0, Arg()), call + "None for 'a' but must have a tensor");
  EXPECT_EQ(check(1, Ints{1}), call + "[1] for 'b' but must have a tensor, a scalar or a number");
  EXPECT_EQ(check(2, Scalar(1.0)), call + "1.0 for 'count' but must have an integer");
  EXPECT_EQ(check(2, Scalar(true)), call + "True for 'count' but must have an integer");
  EXPECT_EQ(check(3, Scalar(1)), call + "1 for 'dims' but must have a list of integers");
  EXPECT_EQ(check(4, Scalar(1)), call + "1 for 'flag' but must have True or False");
  EXPECT_EQ(check(5, Scalar(1)), call + "1 for 'dtype' but must have an element type");
  EXPECT_EQ(check(1, ValId{0}), "");
  EXPECT_EQ(check(5, Arg()), "");
}

TEST(Verify, CallsHaveTheOutputsOfTheirOperation) {
  Sample sample;
  OpDescriptor op = kNegate;
  sample.fusion.addExpr(op, {sample.out}, {sample.type});
  op.outputCount = 2;
  EXPECT_EQ(violations(sample.fusion), Texts{"call 1 of 'negate' has 1 outputs but must have 2"});
}

TEST(Verify, OutputsAreTensors) {
  Sample sample;
  sample.fusion.val(sample.out).type = ScalarType{};
  EXPECT_EQ(violations(sample.fusion).back(), "output 'c2' must be a tensor");
}

TEST(Verify, OutputsAreDefinedOrInputs) {
  Sample sample;
  sample.fusion.addOutput(sample.a);
  EXPECT_EQ(violations(sample.fusion), Texts{});
  sample.fusion.addOutput(sample.fusion.addTensor(sample.type));
  EXPECT_EQ(violations(sample.fusion), Texts{"output 'tv3' has no definition and is no input"});
}

TEST(Verify, ContiguityIsForInputsAlone) {
  Sample sample;
  sample.typeOf(sample.out).contiguity = {true, true};
  EXPECT_EQ(violations(sample.fusion), Texts{"'tv2' has a contiguity, which only inputs have"});
}

TEST(Verify, ContiguityHasAnEntryForEachDimensionOfAnInput) {
  Sample sample;
  sample.typeOf(sample.a).contiguity = {true};
  EXPECT_EQ(violations(sample.fusion), Texts{"'tv0' has 1 contiguity entries but must have 2"});
  sample.typeOf(sample.a).contiguity = {};
  EXPECT_EQ(violations(sample.fusion), Texts{"'tv0' has 0 contiguity entries but must have 2"});
}

TEST(Verify, ContiguityIsNoneExactlyOnBroadcastDimensions) {
  Sample sample;
  sample.typeOf(sample.a).contiguity = {true, std::nullopt};
  EXPECT_EQ(violations(sample.fusion),
            Texts{"'tv0' has a contiguity for dimension 1 that must be t or f because it is not a "
                  "broadcast"});
  // Column-major: the list's last entry belongs to dimension 0.
  sample.typeOf(sample.a).strideOrder = {0, 1};
  EXPECT_EQ(violations(sample.fusion),
            Texts{"'tv0' has a contiguity for dimension 0 that must be t or f because it is not a "
                  "broadcast"});
  sample.typeOf(sample.a).domain[0].isBroadcast = true;
  EXPECT_EQ(violations(sample.fusion), Texts{});
  sample.typeOf(sample.a).contiguity = {true, false};
  EXPECT_EQ(
      violations(sample.fusion),
      Texts{"'tv0' has a contiguity for dimension 0 that must be n because it is a broadcast"});
}

TEST(Verify, StrideOrdersArePermutations) {
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{0, 0}, {0, 2}, {0, -1}, {0}, {0, 1, 2}}) {
    Sample sample;
    sample.typeOf(sample.out).strideOrder = order;
    ASSERT_EQ(violations(sample.fusion).size(), 1u);
    EXPECT_NE(violations(sample.fusion)[0].find("but must have a permutation for rank 2"),
              std::string::npos);
  }
}

TEST(Verify, SymbolsHaveSources) {
  Sample sample;
  sample.typeOf(sample.out).domain[1].extent = IntExpr::symbol(SymbolId{7}) + 1;
  EXPECT_EQ(violations(sample.fusion), Texts{"'tv2' has symbol i7, which has no source"});
  Fusion scalar;
  ValId id = scalar.addInputScalar(PrimType::Int);
  std::get<ScalarType>(scalar.val(id).type).symbol = SymbolId{3};
  EXPECT_EQ(violations(scalar), Texts{"'c0' has symbol i3, which has no source"});
}

TEST(Verify, SourcesExist) {
  Sample sample;
  sample.fusion.setSymbols({{.val = sample.a, .dim = 2}, {.val = ValId{50}, .dim = 0}});
  EXPECT_EQ(
      violations(sample.fusion),
      (Texts{"symbol i0 is bound by dimension 2 of 'tv0', which has no such dimension",
             "symbol i1 is bound by value 50, which does not exist, but must be by a value"}));
}

TEST(Verify, ExtentsAreNotNegative) {
  Sample sample;
  sample.typeOf(sample.out).domain[1].extent = -3;
  EXPECT_EQ(violations(sample.fusion), Texts{"'tv2' has the negative extent -3"});
}

TEST(Verify, CpuScalarsHaveRankZero) {
  Sample sample;
  sample.typeOf(sample.a).isCpuScalar = true;
  EXPECT_EQ(violations(sample.fusion),
            Texts{"'tv0' is a CPU scalar of rank 2 but must have rank 0"});
}

TEST(Verify, PlacementsNameDimensionsThatExist) {
  Sample sample;
  auto sharded = [](Placement placement) {
    return intern(makeSharding(DeviceMesh::fromCount(2), MeshDevice::Cpu, {placement}));
  };
  sample.typeOf(sample.out).sharding = sharded(Placement::shard(1));
  EXPECT_EQ(violations(sample.fusion), Texts{});
  sample.typeOf(sample.out).sharding = sharded(Placement::shard(2));
  EXPECT_EQ(violations(sample.fusion),
            Texts{"'tv2' of rank 2 has placement S(2), which names a dimension it lacks"});
  sample.typeOf(sample.out).sharding = sharded(Placement::partial());
  EXPECT_EQ(violations(sample.fusion), Texts{});
}

}  // namespace
}  // namespace meshfuse
