#include "meshfuse/ops/nv_block_quantize/op.h"

#include <string>
#include <utility>

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::nv_block_quantize {

namespace {

constexpr std::string_view kName = "nv_block_quantize";
constexpr int64_t kMxBlock = 32;

PrimType target(std::span<const Arg> args) { return std::get<PrimType>(args[4]); }
bool toFloat4(std::span<const Arg> args) { return target(args) == PrimType::Float4_e2m1fn; }
bool inTiles(std::span<const Arg> args) { return boolArg(args[2]); }
int64_t blockOf(std::span<const Arg> args) { return toFloat4(args) ? kFloat4Block : kMxBlock; }

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  checkQuantized(kName, fusion, args[0]);
  if (!toFloat4(args) && target(args) != PrimType::Float8_e4m3fn) {
    refuseScales(kName, "numbers are quantized to Float4_e2m1fn or Float8_e4m3fn",
                 "dtype DataType." + std::string(nameOf(target(args))), "cast to other types");
  }
  if (const int64_t block = blockOf(args); intArg(args[3]) != block) {
    refuseScales(kName,
                 "a block of " + std::string(nameOf(target(args))) + " has " +
                     std::to_string(block) + " elements",
                 "block_size " + std::to_string(intArg(args[3])),
                 toFloat4(args) ? "pass block_size=16" : "pass block_size=32");
  }
  if (!toFloat4(args) && (isGiven(args[1]) || inTiles(args))) {
    refuseScales(kName, "scales of Float8_e4m3fn's blocks stand alone, in the order of the blocks",
                 "global_scale or swizzle_block_scales", "leave them out");
  }
  checkGlobalScale(kName, fusion, args[1]);
  if (inTiles(args) && tensorArg(fusion, args[0]).rank() != 2) {
    refuseScales(kName, "scales lie in tiles of rows and columns", describe(fusion, args[0]),
                 "reshape the input to two dimensions, or leave out swizzle_block_scales");
  }
}

std::vector<PrimType> dtypes(const OpCall& call) {
  return {target(call.args),
          toFloat4(call.args) ? PrimType::Float8_e4m3fn : PrimType::Float8_e8m0fnu};
}

/// Tiles of scales are made of all rows and columns.
DimMap tiledDimMap(const OpCall& call) {
  DimMap map = wholeDimMap(call);
  const TensorType& input = call.tensors[0];
  const IntExpr blocks = blocksOf(kName, input, kFloat4Block);
  map.outputs = {map.inputs[0],
                 {opaqueDim(map, roundedUp(input.domain[0].extent, kTileRows)),
                  opaqueDim(map, roundedUp(blocks, kTileColumns))}};
  return map;
}

/// Blocks are independent of each other once their number is known; until then the last dimension is whole.
DimMap dimMap(const OpCall& call) {
  if (inTiles(call.args)) {
    return tiledDimMap(call);
  }
  DimMap map;
  const int64_t last = call.tensors[0].rank() - 1;
  for (const TensorType& tensor : call.tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  for (int64_t dim = 0; dim < last; ++dim) {
    ownDim(map, call.tensors, 0, dim);
  }
  const int64_t size = blockOf(call.args);
  const IntExpr blocks = blocksOf(kName, call.tensors[0], size);
  map.outputs = {map.inputs[0], map.inputs[0]};
  DimFactors& input = map.inputs[0].back();
  DimFactors& scales = map.outputs[1].back();
  if (!blocks.isConstant()) {
    input = {map.addFactor(call.tensors[0].domain.back().extent, FactorRole::Opaque)};
    scales = {map.addFactor(blocks, FactorRole::Opaque)};
  } else {
    if (blocks.constant() != 1) {
      scales = {map.addFactor(blocks)};
    }
    input = scales;
    input.push_back(map.addFactor(size, FactorRole::Opaque));
  }
  map.outputs[0].back() = input;
  return map;
}

std::vector<OpSample> samples(const OpInfo& op) {
  const auto sample = [&](std::vector<int64_t> sizes) {
    OpSample result = sampleOf({std::move(sizes)}, {}, {0});
    for (const Param& param : op.params) {
      result.args.push_back(param.defaultValue);
    }
    return result;
  };
  const auto mxSample = [&](std::vector<int64_t> sizes) {
    OpSample result = sample(std::move(sizes));
    result.args[3] = Scalar(kMxBlock);
    result.args[4] = PrimType::Float8_e4m3fn;
    return result;
  };
  OpSample scaled = sample({3, 48});
  scaled.tensors.push_back({PrimType::Float, {}, 0.5, 2.0});
  scaled.tensorArgs.push_back(1);
  OpSample tiled = sample({6, 96});
  tiled.args[2] = Scalar(true);
  return {mxSample({6, 64}), mxSample({192}), mxSample({3, 2, 32}), mxSample({0, 96}),
          sample({6, 96}),   sample({2, 16}), std::move(scaled),    std::move(tiled)};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      kName,
      "Blocks of the last dimension, each divided by a scale of its own, and the scales. To "
      "Float4_e2m1fn: blocks of 16, whose scale in Float8_e4m3fn brings the largest to 6, times "
      "global_scale if there is one; swizzle_block_scales gives them in tiles of 128 by 4, padded "
      "with 0. To Float8_e4m3fn: blocks of 32, whose scale in Float8_e8m0fnu is the least power of "
      "two that brings the largest within 448. NVFP4, and the MX formats of the Open Compute "
      "Project, from torch.amax, torch.frexp and torch.ldexp",
      {{"input", ParamKind::Tensor},
       {"global_scale", ParamKind::Tensor, true},
       {"swizzle_block_scales", ParamKind::Bool, true, Scalar(false)},
       {"block_size", ParamKind::Int, true, Scalar(16)},
       {"dtype", ParamKind::DataType, true, PrimType::Float4_e2m1fn}},
      {normalize, dtypes, dimMap, always<Algebra::NonLinear>, samples});
  op.outputCount = 2;
  return op;
}

}  // namespace meshfuse::ops::nv_block_quantize
