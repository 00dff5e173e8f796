// The text of fusions and arguments.
#include "meshfuse/ir/print.h"

#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "ir/sample_ops.h"

namespace meshfuse {
namespace {

using testing::kAll;
using testing::kHalves;
using testing::kMix;

IntExpr sym(uint32_t id) { return IntExpr::symbol(SymbolId{id}); }

TEST(Print, WritesALineForEachValueAndCall) {
  Fusion fusion;
  std::vector<int64_t> shape{-1, 4};
  ValId input = fusion.addInputTensor(PrimType::Float, shape, {true, true});
  ValId scale = fusion.addScalar(PrimType::Double, Scalar(0.5));
  TensorType type{.domain = fusion.val(input).tensor().domain};
  ValId mixed = fusion.expr(fusion.addExpr(kMix, {input, scale}, {type})).outputs[0];
  TensorType half{.dtype = PrimType::Half, .domain = {IterDomain::iteration(sym(0))}};
  std::vector<ValId> halves = fusion.expr(fusion.addExpr(kHalves, {mixed}, {half, half})).outputs;
  fusion.addOutput(halves[1]);
  fusion.addOutput(input);
  EXPECT_EQ(print(fusion),
            "input tv0: Float[i0, 4] contiguity(t, t)\n"
            "constant c0: Double = 0.5\n"
            "tv1: Float[i0, 4] = mix(tv0, c0)\n"
            "tv2: Half[i0], tv3: Half[i0] = halves(tv1)\n"
            "output tv3\n"
            "output tv0\n");
}

TEST(Print, WritesEveryKindOfDimensionAndOrder) {
  Fusion fusion;
  std::vector<int64_t> shape{-1, 0, 1, 8, -1};
  fusion.addInputTensor(PrimType::Int, shape,
                        {false, true, std::nullopt, std::nullopt, std::nullopt});
  std::vector<int64_t> matrix{2, 3};
  fusion.addInputTensor(PrimType::Bool, matrix, {true, false}, {0, 1});
  fusion.addInputTensor(PrimType::Double, {}, {}, {}, true);
  EXPECT_EQ(print(fusion),
            "input tv0: Int[i0, 0, b1, b8, b(i1)] contiguity(f, t, n, n, n)\n"
            "input tv1: Bool[2, 3] contiguity(t, f) stride_order(0, 1)\n"
            "input tv2: Double[] cpu\n");
}

TEST(Print, WritesScalarsWithTheirSymbols) {
  Fusion fusion;
  ValId size = fusion.addInputScalar(PrimType::Int);
  fusion.addInputScalar(PrimType::Double);
  fusion.addScalarExpr(kMix, {size, Scalar(2)}, PrimType::Int);
  fusion.addExpr(kAll, {fusion.addTensor({}), size, Arg(), Ints{}, Scalar(false), PrimType::Half},
                 {{.domain = {IterDomain::iteration(sym(0) + 1)}}});
  EXPECT_EQ(print(fusion),
            "input c0: Int i0\n"
            "input c1: Double\n"
            "c2: Int i1 = mix(c0, 2)\n"
            "value tv0: Float[]\n"
            "tv1: Float[i0 + 1] = all_kinds(tv0, c0, None, [], False, Half)\n");
}

TEST(Print, WritesShardingsInTheType) {
  TensorType type{.domain = {IterDomain::iteration(sym(0)), IterDomain::iteration(4)}};
  type.sharding = intern(makeSharding(DeviceMesh::fromShape({2, 2}), MeshDevice::Cuda,
                                      {Placement::shard(0), Placement::partial(ReduceKind::Max)}));
  EXPECT_EQ(toText(type), "Float[i0, 4] @ DeviceMesh{(0 1) (2 3)} cuda (S(0), P(max))");
}

TEST(Print, SaysWhatBindsASymbolWhereADeclarationDoesNot) {
  Fusion fusion;
  std::vector<int64_t> shape{-1, -1};
  ValId input = fusion.addInputTensor(PrimType::Float, shape, {true, true});
  fusion.val(input).tensor().domain[0].extent = 8;
  EXPECT_EQ(print(fusion),
            "input tv0: Float[8, i1] contiguity(t, t)\n"
            "symbol i0 = tv0[0]\n");
}

TEST(Print, KeepsTheOrderOfInputsThatDiffersFromTheValues) {
  Fusion fusion;
  ValId a = fusion.addScalar(PrimType::Double);
  ValId b = fusion.addScalar(PrimType::Double);
  fusion.addInput(b);
  fusion.addInput(a);
  EXPECT_EQ(print(fusion), "value c0: Double\ninput c1: Double\ninput c0\n");
}

TEST(Print, OfAnEmptyFusionIsEmpty) { EXPECT_EQ(print(Fusion()), ""); }

TEST(PrintArg, WritesEachKindAsTheLanguageDoes) {
  Fusion fusion;
  ValId tensor = fusion.addTensor({});
  ValId scalar = fusion.addScalar(PrimType::Double);
  double inf = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(printArg(fusion, Arg()), "None");
  EXPECT_EQ(printArg(fusion, tensor), "tv0");
  EXPECT_EQ(printArg(fusion, scalar), "c0");
  EXPECT_EQ(printArg(fusion, Scalar(2.0)), "2.0");
  EXPECT_EQ(printArg(fusion, Scalar(-3)), "-3");
  EXPECT_EQ(printArg(fusion, Scalar(true)), "True");
  EXPECT_EQ(printArg(fusion, Scalar(-inf)), "float(\"-inf\")");
  EXPECT_EQ(printArg(fusion, Scalar(nan)), "float(\"nan\")");
  EXPECT_EQ(printArg(fusion, Scalar(Scalar::Complex(1, -2))), "(1-2j)");
  EXPECT_EQ(printArg(fusion, Ints{0, -1}), "[0, -1]");
  EXPECT_EQ(printArg(fusion, Ints{}), "[]");
  EXPECT_EQ(printArg(fusion, PrimType::Float8_e4m3fn), "Float8_e4m3fn");
}

}  // namespace
}  // namespace meshfuse
