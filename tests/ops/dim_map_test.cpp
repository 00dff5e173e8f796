// Dimension maps of reshapes, checked by brute force: the elements that a factor's index selects are the same on both sides.
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

/// For each element in row-major order, the index of `factor` in the dimension that holds it outermost; -1 if no dimension does.
std::vector<int64_t> factorIndex(const DimMap& map, const std::vector<DimFactors>& dims,
                                 const std::vector<int64_t>& sizes, int32_t factor) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    count *= size;
  }
  std::vector<int64_t> indices;
  for (int64_t element = 0; element < count; ++element) {
    int64_t rest = element;
    std::vector<int64_t> coordinate(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 0;) {
      coordinate[dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    int64_t index = -1;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      int64_t inner = sizes[dim];
      for (int32_t candidate : dims[dim]) {
        const int64_t extent = map.factors[static_cast<size_t>(candidate)].extent.constant();
        inner /= extent;
        if (candidate == factor) {
          index = coordinate[dim] / inner % extent;
        }
      }
    }
    indices.push_back(index);
  }
  return indices;
}

void checkReshape(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  Fusion fusion;
  const ValId x = fusion.addInputTensor(PrimType::Float, from, [&] {
    Contiguity contiguity;
    for (int64_t size : from) {
      contiguity.push_back(size == 1 ? std::nullopt : std::optional(true));
    }
    return contiguity;
  }());
  const ValId y = addCall(fusion, *findOp("reshape"), {x, to})[0];
  const Expr& expr = fusion.expr(fusion.val(y).definition);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  const OpInfo& op = infoOf(*expr.op);
  const DimMap map = op.dimMap({&op, &fusion, expr.args, tensors});
  for (size_t factor = 0; factor < map.factors.size(); ++factor) {
    if (map.factors[factor].role == FactorRole::Parallel) {
      EXPECT_EQ(factorIndex(map, map.inputs[0], from, static_cast<int32_t>(factor)),
                factorIndex(map, map.outputs[0], to, static_cast<int32_t>(factor)))
          << "factor " << factor;
    }
  }
}

/// All size lists of up to three dimensions with this product.
std::vector<std::vector<int64_t>> shapesOf(int64_t count) {
  std::vector<std::vector<int64_t>> shapes{{count}};
  for (int64_t a = 1; a <= count; ++a) {
    if (count % a != 0) {
      continue;
    }
    shapes.push_back({a, count / a});
    for (int64_t b = 1; b <= count / a; ++b) {
      if (count / a % b == 0) {
        shapes.push_back({a, b, count / a / b});
      }
    }
  }
  return shapes;
}

TEST(DimMap, ReshapeFactorsSelectTheSameElements) {
  for (int64_t count : {1, 6, 12, 24}) {
    for (const auto& from : shapesOf(count)) {
      for (const auto& to : shapesOf(count)) {
        checkReshape(from, to);
      }
    }
  }
}

TEST(DimMap, InterleavedReshapeKeepsItsCommonOuterPart) {
  Fusion fusion;
  const ValId x = fusion.addInputTensor(PrimType::Float, std::vector<int64_t>{12, 8}, {true, true});
  const ValId y = addCall(fusion, *findOp("reshape"), {x, Ints{16, 6}})[0];
  const Expr& expr = fusion.expr(fusion.val(y).definition);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  const OpInfo& op = infoOf(*expr.op);
  const DimMap map = op.dimMap({&op, &fusion, expr.args, tensors});
  ASSERT_FALSE(map.factors.empty());
  EXPECT_EQ(map.factors[0].extent, IntExpr(4));
  EXPECT_EQ(map.factors[0].role, FactorRole::Parallel);
  EXPECT_EQ(map.inputs[0][0].front(), 0);
  EXPECT_EQ(map.outputs[0][0].front(), 0);
  EXPECT_EQ(map.factors[static_cast<size_t>(map.inputs[0][1].front())].role, FactorRole::Opaque);
}

}  // namespace
}  // namespace meshfuse
