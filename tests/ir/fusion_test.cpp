// Fusions: inputs and the errors of their declarations, names, symbols, structural equality and hash.
#include "meshfuse/ir/fusion.h"

#include <limits>

#include <gtest/gtest.h>

#include "ir/sample_ops.h"
#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using testing::kHalves;
using testing::kMix;

IntExpr sym(uint32_t id) { return IntExpr::symbol(SymbolId{id}); }

TensorType floatOf(std::vector<IterDomain> domain) { return {.domain = std::move(domain)}; }

std::string runtimeErrorOf(std::vector<int64_t> shape, Contiguity contiguity,
                           std::vector<int64_t> strideOrder = {}, bool isCpuScalar = false) {
  Fusion fusion;
  try {
    fusion.addInputTensor(PrimType::Float, shape, std::move(contiguity), std::move(strideOrder),
                          isCpuScalar);
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Runtime);
    EXPECT_TRUE(fusion.vals().empty() && fusion.symbols().empty())
        << "a refused input leaves a trace";
    return error.what();
  }
  return "no error";
}

TEST(AddInputTensor, EachKindOfSizeBecomesItsKindOfDimension) {
  Fusion fusion;
  std::vector<int64_t> shape{-1, 0, 4, 1, 8, -1};
  ValId id = fusion.addInputTensor(PrimType::Half, shape,
                                   {true, false, true, std::nullopt, std::nullopt, std::nullopt});
  const TensorType& type = fusion.val(id).tensor();
  EXPECT_EQ(type.dtype, PrimType::Half);
  EXPECT_EQ(type.domain,
            (std::vector<IterDomain>{IterDomain::iteration(sym(0)), IterDomain::iteration(0),
                                     IterDomain::iteration(4), IterDomain::broadcast(),
                                     IterDomain::expanded(8), IterDomain::expanded(sym(1))}));
  EXPECT_FALSE(type.domain[3].isExpanded());
  EXPECT_TRUE(type.domain[4].isExpanded());
  EXPECT_TRUE(type.domain[5].isExpanded());
  ASSERT_EQ(fusion.symbols().size(), 2u);
  EXPECT_EQ(fusion.symbols()[0].val, id);
  EXPECT_EQ(fusion.symbols()[0].dim, 0);
  EXPECT_EQ(fusion.symbols()[1].dim, 5);
  EXPECT_TRUE(fusion.isInput(id));
  EXPECT_FALSE(fusion.isOutput(id));
}

TEST(AddInputTensor, ContiguityIsInAllocationOrder) {
  Fusion fusion;
  std::vector<int64_t> shape{-1, -1, -1};
  ValId id = fusion.addInputTensor(PrimType::Float, shape, {true, std::nullopt, true}, {2, 0, 1});
  const TensorType& type = fusion.val(id).tensor();
  EXPECT_FALSE(type.domain[0].isBroadcast);
  EXPECT_FALSE(type.domain[1].isBroadcast);
  EXPECT_TRUE(type.domain[2].isBroadcast) << "dimension 2 is second in memory";
  EXPECT_EQ(type.strideOrder, (std::vector<int64_t>{2, 0, 1}));
}

TEST(AddInputTensor, RowMajorOrderIsTheEmptyOne) {
  Fusion fusion;
  std::vector<int64_t> shape{2, 3};
  ValId id = fusion.addInputTensor(PrimType::Float, shape, {true, true}, {1, 0});
  EXPECT_TRUE(fusion.val(id).tensor().strideOrder.empty());
}

TEST(AddInputTensor, RankZeroMayBeOnTheCpu) {
  Fusion fusion;
  ValId id = fusion.addInputTensor(PrimType::Float, {}, {}, {}, true);
  EXPECT_TRUE(fusion.val(id).tensor().isCpuScalar);
  EXPECT_EQ(fusion.val(id).tensor().rank(), 0);
}

TEST(AddInputTensor, RefusesSizesBelowMinusOne) {
  EXPECT_EQ(runtimeErrorOf({4, -2}, {true, true}),
            "define_tensor: a size must be one of four kinds: the value -2 at index 1 was neither "
            "symbolic(-1), zero_element(0), broadcast(1), or static(>1); use -1 for a size that is "
            "known only at run time");
}

TEST(AddInputTensor, RefusesContiguityThatDoesNotFit) {
  EXPECT_EQ(
      runtimeErrorOf({4, 5}, {true}),
      "define_tensor: contiguity must have an entry for each dimension: got 1 entries for shape "
      "[4, 5] of rank 2; give True, False or, for broadcast dimensions, None for each dimension");
  EXPECT_EQ(
      runtimeErrorOf({4, 1}, {true, false}),
      "define_tensor: contiguity must be None on broadcast dimensions: got False at index 1 for "
      "dimension 1 of shape [4, 1]; give None there, or -1 as the size if the dimension does "
      "not broadcast");
  EXPECT_EQ(
      runtimeErrorOf({4, 1}, {true, std::nullopt}, {0, 1}),
      "define_tensor: contiguity must be None on broadcast dimensions: got True at index 0 for "
      "dimension 1 of shape [4, 1]; give None there, or -1 as the size if the dimension does "
      "not broadcast");
}

TEST(AddInputTensor, RefusesStrideOrdersThatAreNoPermutation) {
  EXPECT_EQ(
      runtimeErrorOf({4, 5}, {true, true}, {0, 0}),
      "define_tensor: stride_order must number the dimensions from 0: got stride_order [0, 0] "
      "for rank 2 with duplicated stride_order entries; give each dimension its position in "
      "memory, 0 for the innermost");
  EXPECT_EQ(
      runtimeErrorOf({4, 5}, {true, true}, {0, 2}),
      "define_tensor: stride_order must number the dimensions from 0: got stride_order [0, 2] "
      "for rank 2, where 2 is out of range; give each dimension its position in memory, 0 for "
      "the innermost");
  EXPECT_NE(runtimeErrorOf({4, 5}, {true, true}, {0, -1}).find("-1 is out of range"),
            std::string::npos);
  EXPECT_EQ(
      runtimeErrorOf({4, 5}, {true, true}, {0}),
      "define_tensor: stride_order must have an entry for each dimension: got stride_order [0] "
      "for rank 2; give each dimension its position in memory, 0 for the innermost");
}

TEST(AddInputTensor, RefusesCpuTensorsThatAreNoScalars) {
  EXPECT_EQ(
      runtimeErrorOf({4}, {true}, {}, true),
      "define_tensor: a tensor on the CPU beside ones on another device must be a scalar: got "
      "is_cpu=True for shape [4] of rank 1; leave is_cpu out, or give the shape []");
}

TEST(Fusion, TensorsAndScalarsAreCountedSeparately) {
  Fusion fusion;
  ValId t0 = fusion.addTensor({});
  ValId c0 = fusion.addInputScalar(PrimType::Double);
  ValId t1 = fusion.addTensor({});
  ValId c1 = fusion.addScalar(PrimType::Int, Scalar(3));
  EXPECT_EQ(fusion.nameOf(t0), "tv0");
  EXPECT_EQ(fusion.nameOf(c0), "c0");
  EXPECT_EQ(fusion.nameOf(t1), "tv1");
  EXPECT_EQ(fusion.nameOf(c1), "c1");
  EXPECT_EQ(fusion.val(c1).dtype(), PrimType::Int);
}

TEST(Fusion, RunTimeIntegersAreSymbols) {
  Fusion fusion;
  ValId size = fusion.addInputScalar(PrimType::Int);
  ValId constant = fusion.addScalar(PrimType::Int, Scalar(3));
  ValId real = fusion.addInputScalar(PrimType::Double);
  ExprId sum = fusion.addScalarExpr(kMix, {size, Scalar(1)}, PrimType::Int);
  EXPECT_EQ(fusion.val(size).scalar().symbol, SymbolId{0});
  EXPECT_EQ(fusion.val(constant).scalar().symbol, std::nullopt);
  EXPECT_EQ(fusion.val(real).scalar().symbol, std::nullopt);
  EXPECT_EQ(fusion.val(fusion.expr(sum).outputs[0]).scalar().symbol, SymbolId{1});
  EXPECT_EQ(fusion.symbols()[0].val, size);
  EXPECT_EQ(fusion.symbols()[0].dim, -1);
}

TEST(Fusion, CallsDefineTheirOutputs) {
  Fusion fusion;
  std::vector<int64_t> shape{-1};
  ValId input = fusion.addInputTensor(PrimType::Float, shape, {true});
  TensorType half = floatOf({IterDomain::iteration(floorDiv(sym(0), 2))});
  ExprId call = fusion.addExpr(kHalves, {input}, {half, half});
  ASSERT_EQ(fusion.expr(call).outputs.size(), 2u);
  for (ValId output : fusion.expr(call).outputs) {
    EXPECT_EQ(fusion.val(output).definition, call);
    EXPECT_EQ(fusion.val(output).tensor(), half);
  }
  EXPECT_EQ(inputsOf(fusion.expr(call)), std::vector<ValId>{input});
  EXPECT_THROW(fusion.addExpr(kHalves, {input}, {half}), InternalError);
  EXPECT_THROW(fusion.addExpr(kHalves, {}, {half, half}), InternalError);
}

TEST(Fusion, InputsOfAreInOrderWithRepetitions) {
  Expr expr{&kMix, {ValId{3}, ValId{1}}, {}};
  EXPECT_EQ(inputsOf(expr), (std::vector<ValId>{ValId{3}, ValId{1}}));
  expr.args = {ValId{2}, Scalar(1.0)};
  EXPECT_EQ(inputsOf(expr), std::vector<ValId>{ValId{2}});
  expr.args = {ValId{2}, ValId{2}};
  EXPECT_EQ(inputsOf(expr), (std::vector<ValId>{ValId{2}, ValId{2}}));
}

TEST(Fusion, OutputsMayRepeatButMustBeTensors) {
  Fusion fusion;
  std::vector<int64_t> shape{4};
  ValId input = fusion.addInputTensor(PrimType::Float, shape, {true});
  ValId scalar = fusion.addInputScalar(PrimType::Double);
  fusion.addOutput(input);
  fusion.addOutput(input);
  EXPECT_EQ(fusion.outputs().size(), 2u);
  EXPECT_TRUE(fusion.isOutput(input));
  try {
    fusion.addOutput(scalar);
    ADD_FAILURE() << "a scalar became an output";
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Runtime);
    EXPECT_STREQ(
        error.what(),
        "add_output: outputs are tensors: Non-TensorView outputs are not supported, and 'c0' "
        "is a scalar; use the scalar in an operation on a tensor and return that");
  }
  EXPECT_THROW(fusion.addInput(input), InternalError);
  EXPECT_THROW(fusion.addInput(ValId{9}), InternalError);
}

// ---- equality and hash --------------------------------------------------------------------------------------

struct Parts {
  PrimType dtype = PrimType::Float;
  std::vector<int64_t> shape{-1, 4};
  Contiguity contiguity{true, true};
  std::vector<int64_t> strideOrder{};
  Sharding sharding{};
  Scalar number = 1.0;
  Scalar constant = 2.0;
  const OpDescriptor* op = &kMix;
  bool hasOutput = true;
};

Fusion make(const Parts& parts) {
  Fusion fusion;
  ValId input =
      fusion.addInputTensor(parts.dtype, parts.shape, parts.contiguity, parts.strideOrder);
  if (parts.sharding.mesh.ndim() > 0) {
    fusion.val(input).tensor().sharding = intern(parts.sharding);
  }
  ValId constant = fusion.addScalar(PrimType::Double, parts.constant);
  TensorType type{.domain = fusion.val(input).tensor().domain};
  ExprId first = fusion.addExpr(*parts.op, {input, constant}, {type});
  ExprId second = fusion.addExpr(*parts.op, {fusion.expr(first).outputs[0], parts.number}, {type});
  if (parts.hasOutput) {
    fusion.addOutput(fusion.expr(second).outputs[0]);
  }
  return fusion;
}

Sharding shardedOn(int64_t dim, int64_t ranks) {
  return makeSharding(DeviceMesh::fromCount(ranks), MeshDevice::Cpu, {Placement::shard(dim)});
}

void expectDifferent(const Parts& a, const Parts& b) {
  EXPECT_FALSE(sameDefinition(make(a), make(b)));
  EXPECT_NE(structuralHash(make(a)), structuralHash(make(b)));
}

void expectSame(const Parts& a, const Parts& b) {
  EXPECT_TRUE(sameDefinition(make(a), make(b)));
  EXPECT_EQ(structuralHash(make(a)), structuralHash(make(b)));
}

TEST(SameDefinition, HoldsForDefinitionsMadeTwiceAndCopies) {
  expectSame({}, {});
  Fusion fusion = make({});
  Fusion copy = fusion;
  EXPECT_TRUE(sameDefinition(fusion, copy));
  EXPECT_EQ(structuralHash(fusion), structuralHash(copy));
}

TEST(SameDefinition, GoesByTheNameOfAnOperationNotItsAddress) {
  OpDescriptor other = kMix;
  expectSame({}, {.op = &other});
  OpDescriptor renamed = kMix;
  renamed.name = "blend";
  expectDifferent({}, {.op = &renamed});
}

TEST(SameDefinition, SeesEveryPartOfAType) {
  expectDifferent({}, {.dtype = PrimType::Half});
  expectDifferent({}, {.shape = {-1, 5}});
  expectDifferent({}, {.shape = {4, -1}});
  expectDifferent({}, {.shape = {-1, -1}});
  expectDifferent({}, {.contiguity = {true, false}});
  expectDifferent({}, {.contiguity = {true, std::nullopt}});
  expectDifferent({}, {.strideOrder = {0, 1}});
  expectDifferent({}, {.hasOutput = false});
}

TEST(SameDefinition, SeesShardingsByContent) {
  expectSame({.sharding = shardedOn(0, 2)}, {.sharding = shardedOn(0, 2)});
  expectDifferent({}, {.sharding = shardedOn(0, 2)});
  expectDifferent({.sharding = shardedOn(0, 2)}, {.sharding = shardedOn(1, 2)});
  expectDifferent({.sharding = shardedOn(0, 2)}, {.sharding = shardedOn(0, 3)});
}

TEST(SameDefinition, NaNIsItselfAndMinusZeroIsNotZero) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  expectSame({.number = nan}, {.number = nan});
  expectSame({.constant = nan}, {.constant = nan});
  expectDifferent({.number = 0.0}, {.number = -0.0});
  expectDifferent({.constant = 0.0}, {.constant = -0.0});
  expectDifferent({.number = 1.0}, {.number = Scalar(1)});
  expectDifferent({.number = true}, {.number = Scalar(1)});
  expectDifferent({.number = 1.0}, {.number = Scalar::Complex(1.0, 0.0)});
}

TEST(SameDefinition, SeesTheOrderOfInputsAndOutputs) {
  std::vector<int64_t> shape{4};
  auto pair = [&](bool isSwapped) {
    Fusion fusion;
    ValId a = fusion.addInputTensor(PrimType::Float, shape, {true});
    ValId b = fusion.addInputTensor(PrimType::Float, shape, {true});
    fusion.addOutput(isSwapped ? b : a);
    fusion.addOutput(isSwapped ? a : b);
    return fusion;
  };
  EXPECT_TRUE(sameDefinition(pair(false), pair(false)));
  EXPECT_FALSE(sameDefinition(pair(false), pair(true)));
  EXPECT_NE(structuralHash(pair(false)), structuralHash(pair(true)));
}

TEST(SameDefinition, SeesWhatBindsASymbol) {
  Fusion a = make({});
  Fusion b = a;
  b.setSymbols({{.val = ValId{0}, .dim = 1}});
  EXPECT_FALSE(sameDefinition(a, b));
  EXPECT_NE(structuralHash(a), structuralHash(b));
}

TEST(IsSame, ComparesArgumentsByKindAndContent) {
  EXPECT_TRUE(isSame(Arg(), Arg()));
  EXPECT_FALSE(isSame(Arg(), Arg(Scalar(0))));
  EXPECT_TRUE(isSame(Arg(Ints{1, 2}), Arg(Ints{1, 2})));
  EXPECT_FALSE(isSame(Arg(Ints{1, 2}), Arg(Ints{2, 1})));
  EXPECT_FALSE(isSame(Arg(Ints{}), Arg(Ints{0})));
  EXPECT_TRUE(isSame(Arg(ValId{1}), Arg(ValId{1})));
  EXPECT_FALSE(isSame(Arg(ValId{1}), Arg(ValId{2})));
  EXPECT_TRUE(isSame(Arg(PrimType::Int), Arg(PrimType::Int)));
  EXPECT_FALSE(isSame(Arg(PrimType::Int), Arg(PrimType::Half)));
}

}  // namespace
}  // namespace meshfuse
