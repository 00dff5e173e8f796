#include "meshfuse/ops/nv_grouped_block_quantize/op.h"

#include <string>

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::nv_grouped_block_quantize {

namespace {

constexpr std::string_view kName = "nv_grouped_block_quantize";

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkQuantized(kName, fusion, args[0]);
  if (tensorArg(fusion, args[0]).rank() != 2) {
    refuseScales(kName, "groups are of the rows of [m, k]", describe(fusion, args[0]),
                 "reshape the input to two dimensions");
  }
  checkGroupOffsets(kName, "input_offsets", fusion, args[1]);
  checkGroupOffsets(kName, "output_offsets", fusion, args[2]);
  checkGlobalScale(kName, fusion, args[3]);
  if (const auto dtype = std::get<PrimType>(args[5]); dtype != PrimType::Float4_e2m1fn) {
    refuseScales(kName, "groups are quantized to Float4_e2m1fn",
                 "dtype DataType." + std::string(nameOf(dtype)),
                 "use nv_block_quantize, whose blocks know no groups");
  }
  if (intArg(args[4]) != kFloat4Block) {
    refuseScales(kName, "a block of Float4_e2m1fn has 16 elements",
                 "block_size " + std::to_string(intArg(args[4])), "pass block_size=16");
  }
}

std::vector<PrimType> dtypes(const OpCall& /*call*/) {
  return {PrimType::Float4_e2m1fn, PrimType::Float8_e4m3fn};
}

DimMap dimMap(const OpCall& call) {
  DimMap map = wholeDimMap(call);
  const TensorType& input = call.tensors[0];
  const IntExpr groups =
      unifyExtents(call.tensors[1].domain[0].extent, call.tensors[2].domain[0].extent, kName,
                   "the number of groups");
  map.outputs = {map.inputs[0],
                 {opaqueDim(map, groupedRows(input.domain[0].extent, groups)),
                  opaqueDim(map, roundedUp(blocksOf(kName, input, kFloat4Block), kTileColumns))}};
  return map;
}

std::vector<OpSample> samples(const OpInfo& op) {
  const auto sample = [&](std::vector<int64_t> sizes, std::vector<int64_t> begins,
                          std::vector<int64_t> tiles) {
    const auto groups = static_cast<int64_t>(begins.size());
    OpSample result = sampleOf({std::move(sizes)}, {}, {0, 1, 2});
    for (const Param& param : op.params) {
      result.args.push_back(param.defaultValue);
    }
    result.tensors.push_back({PrimType::Int32, {groups}, 0, 1, std::move(begins)});
    result.tensors.push_back({PrimType::Int32, {groups}, 0, 1, std::move(tiles)});
    return result;
  };
  OpSample scaled = sample({6, 48}, {0, 4}, {0, 128});
  scaled.tensors.push_back({PrimType::Float, {}, 0.5, 2.0});
  scaled.tensorArgs.push_back(3);
  return {sample({6, 96}, {0, 2}, {0, 128}), sample({5, 16}, {0}, {0}),
          sample({0, 32}, {0, 0, 0}, {0, 0, 0}), std::move(scaled)};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(kName,
                           "nv_block_quantize of [m, k] to Float4_e2m1fn, with the scales of each "
                           "group of rows in tiles "
                           "of 128 by 4 of their own, padded with 0: groups begin at the rows "
                           "input_offsets, their tiles "
                           "at the rows output_offsets, which are multiples of 128; torch.amax",
                           {{"input", ParamKind::Tensor},
                            {"input_offsets", ParamKind::Tensor},
                            {"output_offsets", ParamKind::Tensor},
                            {"global_scale", ParamKind::Tensor, true},
                            {"block_size", ParamKind::Int, true, Scalar(kFloat4Block)},
                            {"dtype", ParamKind::DataType, true, PrimType::Float4_e2m1fn}},
                           {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.outputCount = 2;
  return op;
}

}  // namespace meshfuse::ops::nv_grouped_block_quantize
