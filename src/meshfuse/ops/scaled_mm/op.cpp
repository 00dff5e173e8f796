#include "meshfuse/ops/scaled_mm/op.h"

#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/scaled_product.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::scaled_mm {

namespace {

constexpr std::string_view kName = "scaled_mm";
constexpr ScaledArgs kRest{4};

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  refuseScales(kName, rule, found, wayOut);
}

/// The scales of blocks of 4-bit floats lie in tiles; one number stands for all of any matrix.
bool isTiled(const TensorType& matrix, const TensorType& scale) {
  return matrix.dtype == PrimType::Float4_e2m1fn && scale.rank() == 2;
}

bool isTiled(const OpCall& call, size_t matrix) {
  return isTiled(call.tensors[matrix], call.tensors[matrix + 2]);
}

bool isOneNumber(const TensorType& scale) {
  return scale.rank() == 0 || (scale.rank() == 1 && scale.domain[0].extent == IntExpr(1));
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  constexpr size_t kMatrices[] = {0, 1};
  constexpr size_t kScales[] = {2, 3};
  for (size_t arg : kMatrices) {
    if (tensorArg(fusion, args[arg]).rank() != 2) {
      refuse("the matrices are [m, k] and [k, n]", describe(fusion, args[arg]),
             "use grouped_mm for several products");
    }
  }
  for (size_t arg : kScales) {
    const TensorType& scale = tensorArg(fusion, args[arg]);
    if (scale.rank() != 2 && !isOneNumber(scale)) {
      refuse("a scale is one number, or has the matrix's two dimensions",
             describe(fusion, args[arg]), "pass a 0-d tensor, or broadcast it");
    }
  }
  checkScaledProduct(kName, fusion, args, kMatrices, kScales, kRest);
  for (size_t arg : kMatrices) {
    const TensorType& scale = tensorArg(fusion, args[arg + 2]);
    if (isTiled(tensorArg(fusion, args[arg]), scale) && scale.dtype != PrimType::Float8_e4m3fn) {
      refuse("scales of blocks of 4-bit floats are of Float8_e4m3fn",
             describe(fusion, args[arg + 2]),
             "quantize with nv_block_quantize and swizzle_block_scales=True");
    }
  }
  for (size_t arg : {kRest.alpha, kRest.beta()}) {
    const ValId* val = std::get_if<ValId>(&args[arg]);
    if (val == nullptr || !fusion.val(*val).isTensor()) {
      checkRealNumber(kName, fusion, "one of alpha and beta", args[arg]);
    } else if (const TensorType& type = fusion.val(*val).tensor();
               type.rank() != 0 || categoryOf(type.dtype) == TypeCategory::Complex) {
      refuse("alpha and beta are one real number each", describe(fusion, args[arg]),
             "pass a number, a scalar or a 0-d tensor");
    }
  }
  if (isGiven(args[kRest.bias()]) && tensorArg(fusion, args[kRest.bias()]).rank() != 1) {
    refuse("the bias is [n]", describe(fusion, args[kRest.bias()]),
           "add other tensors to the result");
  }
  if (isGiven(args[kRest.beta()]) && !isGiven(args[kRest.bias()])) {
    refuse("beta multiplies the bias", "beta without bias", "pass the bias as well");
  }
}

std::vector<PrimType> dtypes(const OpCall& call) {
  return {std::get<PrimType>(call.args[kRest.dtype()])};
}

/// Whether each number of a scale along `dim` belongs to one index of its matrix, or all to one; refuses numbers that divide
/// the dimension into no equal blocks.
bool isPerIndex(const OpCall& call, size_t matrix, size_t dim) {
  const TensorType& scale = call.tensors[matrix + 2];
  if (scale.rank() != 2 || stretches(scale.domain[dim])) {
    return true;
  }
  const IntExpr& extent = call.tensors[matrix].domain[dim].extent;
  const IntExpr& count = scale.domain[dim].extent;
  if (count == extent) {
    return true;
  }
  const bool isKnown = count.isConstant() && extent.isConstant();
  if (isKnown && (count.constant() == 0 || extent.constant() % count.constant() != 0)) {
    refuse("a scale divides its matrix into equal blocks",
           count.toText() + " numbers along dimension " + std::to_string(dim) + " of size " +
               extent.toText(),
           "pass a number of them that divides the size");
  }
  return false;
}

/// The scales of a matrix of 4-bit floats: tiles of its rows, for mat2 its columns, by the blocks of the contracted dimension.
void mapTiles(DimMap& map, const OpCall& call, size_t matrix) {
  const std::vector<IterDomain>& dims = call.tensors[matrix].domain;
  const std::vector<IterDomain>& tiles = call.tensors[matrix + 2].domain;
  const IntExpr& k = dims[1 - matrix].extent;
  if (k.isConstant() && k.constant() % kFloat4Block != 0) {
    refuse("the contracted dimension consists of blocks of 16 4-bit floats",
           "size " + k.toText() + " in " + toText(call.tensors[matrix]), "pad it");
  }
  unifyExtents(tiles[0].extent, roundedUp(dims[matrix].extent, kTileRows), kName,
               "the rows of scales in tiles of 128 by 4");
  unifyExtents(tiles[1].extent, roundedUp(floorDiv(k, kFloat4Block), kTileColumns), kName,
               "the columns of scales in tiles of 128 by 4");
  for (int64_t dim : {0, 1}) {
    ownDim(map, call.tensors, matrix + 2, dim, FactorRole::Opaque);
  }
}

/// The row of mat1 or the column of mat2, with what the scale has for each.
DimFactors freeDim(DimMap& map, const OpCall& call, size_t matrix, size_t dim) {
  if (isTiled(call, matrix)) {
    return ownDim(map, call.tensors, matrix, static_cast<int64_t>(dim), FactorRole::Opaque);
  }
  const bool isShared = isPerIndex(call, matrix, dim);
  const auto at = static_cast<int64_t>(dim);
  const DimFactors factors =
      ownDim(map, call.tensors, matrix, at, isShared ? FactorRole::Parallel : FactorRole::Opaque);
  const TensorType& scale = call.tensors[matrix + 2];
  if (isShared && scale.rank() == 2 && !stretches(scale.domain[dim])) {
    map.inputs[matrix + 2][dim] = factors;
  } else if (!isShared) {
    ownDim(map, call.tensors, matrix + 2, at, FactorRole::Opaque);
  }
  return factors;
}

/// The contracted dimension is whole on every rank, as its blocks are.
DimMap dimMap(const OpCall& call) {
  DimMap map;
  for (const TensorType& tensor : call.tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  unifyExtents(call.tensors[0].domain[1].extent, call.tensors[1].domain[0].extent, kName,
               "the contracted dimension");
  pairDims(map, call.tensors, 0, 1, 1, 0, FactorRole::Opaque, kName, "the contracted dimension");
  for (size_t matrix : {size_t{0}, size_t{1}}) {
    const size_t contracted = 1 - matrix;
    if (isTiled(call, matrix)) {
      mapTiles(map, call, matrix);
      continue;
    }
    isPerIndex(call, matrix, contracted);
    if (call.tensors[matrix + 2].rank() == 2) {
      ownDim(map, call.tensors, matrix + 2, static_cast<int64_t>(contracted), FactorRole::Opaque);
    }
  }
  map.outputs = {{freeDim(map, call, 0, 0), freeDim(map, call, 1, 1)}};
  if (const std::optional<size_t> bias = operandOf(call, kRest.bias());
      bias && !stretches(call.tensors[*bias].domain[0])) {
    unifyExtents(call.tensors[1].domain[1].extent, call.tensors[*bias].domain[0].extent, kName,
                 "the bias and the columns of mat2");
    map.inputs[*bias][0] = map.outputs[0][1];
  }
  return map;
}

std::vector<OpSample> samples(const OpInfo& op) {
  const auto sample = [&](std::vector<int64_t> mat1, std::vector<int64_t> mat2,
                          std::vector<int64_t> scale1, std::vector<int64_t> scale2) {
    OpSample result =
        sampleOf({std::move(mat1), std::move(mat2), std::move(scale1), std::move(scale2)},
                 std::vector<Arg>(op.params.size()), {0, 1, 2, 3});
    for (size_t i = kRest.dtype(); i < op.params.size(); ++i) {
      result.args[i] = op.params[i].defaultValue;
    }
    result.args[kRest.dtype()] = PrimType::Float;
    return result;
  };
  OpSample biased = sample({6, 4}, {4, 6}, {6, 1}, {1, 6});
  biased.tensors.push_back({PrimType::Float, {6}});
  biased.tensorArgs.push_back(kRest.bias());
  biased.args[kRest.alpha] = Scalar(0.5);
  biased.args[kRest.beta()] = Scalar(2.0);
  OpSample packed = sample({6, 48}, {48, 4}, {128, 4}, {128, 4});
  for (size_t i = 0; i < packed.tensors.size(); ++i) {
    packed.tensors[i].dtype = i < 2 ? PrimType::Float4_e2m1fn : PrimType::Float8_e4m3fn;
  }
  return {sample({4, 6}, {6, 2}, {}, {}),         std::move(biased),
          sample({6, 4}, {4, 6}, {6, 2}, {2, 6}), sample({4, 6}, {6, 4}, {2, 3}, {3, 2}),
          sample({3, 5}, {5, 1}, {3, 1}, {}),     std::move(packed)};
}

}  // namespace

OpInfo info() {
  std::vector<Param> params = {{"mat1", ParamKind::Tensor},
                               {"mat2", ParamKind::Tensor},
                               {"scale1", ParamKind::Tensor},
                               {"scale2", ParamKind::Tensor}};
  const std::vector<Param> rest = scaledParams();
  params.insert(params.end(), rest.begin(), rest.end());
  OpInfo op = structuredOp(
      kName,
      "alpha (mat1 scale1)(mat2 scale2) + beta bias, computed in Float, of [m, k] and [k, n]; a "
      "scale is one number, or divides its matrix into equal blocks with one number each; scales "
      "of "
      "4-bit floats are of blocks of 16 along k, in tiles of 128 by 4 of [m, k / 16] and [n, k / "
      "16]; "
      "the second and the third result are None; torch._scaled_mm",
      std::move(params), {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.overloads.front().absentResults = 2;
  return op;
}

}  // namespace meshfuse::ops::scaled_mm
