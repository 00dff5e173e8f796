#include "meshfuse/ops/preprocess_grouped_matmul_input_sf/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::preprocess_grouped_matmul_input_sf {

namespace {

constexpr std::string_view kName = "preprocess_grouped_matmul_input_sf";

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const TensorType& scales = tensorArg(fusion, args[0]);
  if (scales.rank() != 2 || categoryOf(scales.dtype) != TypeCategory::Floating ||
      scales.dtype == PrimType::Float4_e2m1fn) {
    refuseScales(kName, "the scales are [m, k / 16] of a floating type of 8 bits or more",
                 describe(fusion, args[0]), "pass the second result of nv_block_quantize");
  }
  checkGroupOffsets(kName, "input_offsets", fusion, args[1]);
  checkGroupOffsets(kName, "output_offsets", fusion, args[2]);
}

DimMap dimMap(const OpCall& call) {
  DimMap map = wholeDimMap(call);
  const TensorType& input = call.tensors[0];
  const IntExpr groups =
      unifyExtents(call.tensors[1].domain[0].extent, call.tensors[2].domain[0].extent, kName,
                   "the number of groups");
  map.outputs = {{opaqueDim(map, groupedRows(input.domain[0].extent, groups)),
                  opaqueDim(map, roundedUp(input.domain[1].extent, kTileColumns))}};
  return map;
}

std::vector<OpSample> samples(const OpInfo& /*op*/) {
  const auto sample = [](std::vector<int64_t> sizes, std::vector<int64_t> begins,
                         std::vector<int64_t> tiles) {
    const auto groups = static_cast<int64_t>(begins.size());
    OpSample result = sampleOf({std::move(sizes)}, {{}, {}, {}}, {0, 1, 2});
    result.tensors.push_back({PrimType::Int32, {groups}, 0, 1, std::move(begins)});
    result.tensors.push_back({PrimType::Int32, {groups}, 0, 1, std::move(tiles)});
    return result;
  };
  return {sample({6, 6}, {0, 2}, {0, 128}), sample({5, 1}, {0}, {0}),
          sample({0, 4}, {0, 0, 0}, {0, 0, 0}), sample({3, 0}, {0, 1}, {0, 128})};
}

}  // namespace

OpInfo info() {
  return structuredOp(
      kName,
      "The scales [m, k / 16] of the rows' blocks, those of each group of rows in tiles of 128 by "
      "4 "
      "of their own, padded with 0: groups begin at the rows input_offsets, their tiles at the "
      "rows "
      "output_offsets, which are multiples of 128; torch.Tensor.view and torch.Tensor.transpose",
      {{"input", ParamKind::Tensor},
       {"input_offsets", ParamKind::Tensor},
       {"output_offsets", ParamKind::Tensor}},
      {normalize, dtypeOfFirst, dimMap, always<Algebra::NonLinear>, samples});
}

}  // namespace meshfuse::ops::preprocess_grouped_matmul_input_sf
