#include "meshfuse/ops/cutlass_nvfp4_grouped_mm/op.h"

#include <string>
#include <utility>

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::cutlass_nvfp4_grouped_mm {

namespace {

constexpr std::string_view kName = "cutlass_nvfp4_grouped_mm";

enum : size_t { kMat1, kMat2, kScale1, kScale2, kAlpha, kSizes, kOffsets, kScaleOffsets, kDtype };

void check(const Fusion& fusion, const Arg& arg, int64_t rank, PrimType dtype,
           std::string_view rule, std::string_view wayOut) {
  const TensorType& type = tensorArg(fusion, arg);
  if (type.rank() != rank || type.dtype != dtype) {
    refuseScales(kName, rule, describe(fusion, arg), wayOut);
  }
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  constexpr std::string_view kMatrices = "the matrices are [m, k] and [g, k, n] of Float4_e2m1fn";
  constexpr std::string_view kQuantize = "quantize with nv_block_quantize";
  check(fusion, args[kMat1], 2, PrimType::Float4_e2m1fn, kMatrices, kQuantize);
  check(fusion, args[kMat2], 3, PrimType::Float4_e2m1fn, kMatrices, kQuantize);
  constexpr std::string_view kScales =
      "the scales are tiles of Float8_e4m3fn, in two dimensions for mat1 and three for mat2";
  check(fusion, args[kScale1], 2, PrimType::Float8_e4m3fn, kScales,
        "pass the result of preprocess_grouped_matmul_input_sf");
  check(fusion, args[kScale2], 3, PrimType::Float8_e4m3fn, kScales,
        "quantize each group with swizzle_block_scales=True");
  check(fusion, args[kAlpha], 1, PrimType::Float, "alpha has a number for each group, in Float",
        "pass [g]");
  check(fusion, args[kSizes], 2, PrimType::Int32,
        "problem_sizes has the rows, n and k of each group, in Int32", "pass [g, 3]");
  checkGroupOffsets(kName, "expert_offsets", fusion, args[kOffsets]);
  checkGroupOffsets(kName, "sf_offsets", fusion, args[kScaleOffsets]);
  if (const auto dtype = std::get<PrimType>(args[kDtype]);
      dtype != PrimType::BFloat16 && dtype != PrimType::Half && dtype != PrimType::Float) {
    refuseScales(kName, "the result is of Float, Half or BFloat16",
                 "dtype DataType." + std::string(nameOf(dtype)), "cast the result");
  }
}

std::vector<PrimType> dtypes(const OpCall& call) { return {std::get<PrimType>(call.args[kDtype])}; }

const IntExpr& extentOf(const OpCall& call, size_t tensor, size_t dim) {
  return call.tensors[tensor].domain[dim].extent;
}

/// Every dimension is whole: groups are cut at positions of all rows, and scales lie in tiles.
DimMap dimMap(const OpCall& call) {
  const IntExpr k = unifyExtents(extentOf(call, kMat1, 1), extentOf(call, kMat2, 1), kName,
                                 "the contracted dimension");
  if (k.isConstant() && k.constant() % kFloat4Block != 0) {
    refuseScales(kName, "the contracted dimension consists of blocks of 16 elements",
                 "size " + k.toText() + " in " + toText(call.tensors[kMat1]), "pad it");
  }
  const IntExpr groups = extentOf(call, kMat2, 0);
  for (size_t operand : {kScale2, kAlpha, kSizes, kOffsets, kScaleOffsets}) {
    unifyExtents(groups, extentOf(call, operand, 0), kName, "the number of groups");
  }
  unifyExtents(extentOf(call, kSizes, 1), 3, kName, "what problem_sizes has of a group");
  const IntExpr columns = roundedUp(floorDiv(k, kFloat4Block), kTileColumns);
  unifyExtents(extentOf(call, kScale1, 1), columns, kName, "the columns of scale1 in tiles");
  unifyExtents(extentOf(call, kScale2, 2), columns, kName, "the columns of scale2 in tiles");
  unifyExtents(extentOf(call, kScale2, 1), roundedUp(extentOf(call, kMat2, 2), kTileRows), kName,
               "the rows of scale2 in tiles");
  DimMap map = wholeDimMap(call);
  map.outputs = {{map.inputs[kMat1][0], map.inputs[kMat2][2]}};
  return map;
}

OpSample groupedSample(const std::vector<int64_t>& rows, int64_t k, int64_t n) {
  const auto groups = static_cast<int64_t>(rows.size());
  const auto rounded = [](int64_t size, int64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
  };
  std::vector<int64_t> sizes;
  std::vector<int64_t> begins;
  std::vector<int64_t> tiles;
  int64_t m = 0;
  int64_t tileRows = 0;
  for (int64_t size : rows) {
    sizes.insert(sizes.end(), {size, n, k});
    begins.push_back(m);
    tiles.push_back(tileRows);
    m += size;
    tileRows += rounded(size, kTileRows);
  }
  const int64_t columns = rounded(k / kFloat4Block, kTileColumns);
  OpSample sample;
  sample.tensors = {{PrimType::Float4_e2m1fn, {m, k}},
                    {PrimType::Float4_e2m1fn, {groups, k, n}},
                    {PrimType::Float8_e4m3fn, {tileRows, columns}},
                    {PrimType::Float8_e4m3fn, {groups, rounded(n, kTileRows), columns}},
                    {PrimType::Float, {groups}},
                    {PrimType::Int32, {groups, 3}, 0, 1, sizes},
                    {PrimType::Int32, {groups}, 0, 1, begins},
                    {PrimType::Int32, {groups}, 0, 1, tiles}};
  sample.args = std::vector<Arg>(kDtype + 1);
  sample.args[kDtype] = PrimType::Float;
  sample.tensorArgs = {kMat1, kMat2, kScale1, kScale2, kAlpha, kSizes, kOffsets, kScaleOffsets};
  return sample;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  return {groupedSample({1, 4, 1, 0, 2, 4}, 192, 6), groupedSample({3, 2}, 16, 4)};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      kName,
      "One product of 4-bit floats a group of rows, times the group's alpha, computed in Float: "
      "[m, k] with [g, k, n] gives [m, n], 0 in rows of no group; groups begin at the rows "
      "expert_offsets and have problem_sizes[:, 0] rows; the scales of blocks of 16 lie in tiles "
      "of "
      "128 by 4, a group's of mat1 from the row sf_offsets on; torch._scaled_grouped_mm",
      {{"mat1", ParamKind::Tensor},
       {"mat2", ParamKind::Tensor},
       {"scale1", ParamKind::Tensor},
       {"scale2", ParamKind::Tensor},
       {"alpha", ParamKind::Tensor},
       {"problem_sizes", ParamKind::Tensor},
       {"expert_offsets", ParamKind::Tensor},
       {"sf_offsets", ParamKind::Tensor},
       {"dtype", ParamKind::DataType, true, PrimType::BFloat16}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
}

}  // namespace meshfuse::ops::cutlass_nvfp4_grouped_mm
