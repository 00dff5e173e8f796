#include "meshfuse/ops/nv_block_quantize/op.h"

#include <string>
#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"
#include "meshfuse/ops/structured_op.h"

namespace meshfuse::ops::nv_block_quantize {

namespace {

constexpr std::string_view kName = "nv_block_quantize";
constexpr int64_t kBlock = 32;

[[noreturn]] void refuse(std::string_view rule, const std::string& found, std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {kName, rule, "got " + found, wayOut});
}

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  const TensorType& input = tensorArg(fusion, args[0]);
  const bool isQuantized = input.dtype == PrimType::Float || input.dtype == PrimType::Half ||
                           input.dtype == PrimType::BFloat16;
  if (!isQuantized || input.rank() == 0) {
    refuse("the input is of Float, Half or BFloat16 and has dimensions", describe(fusion, args[0]),
           "cast or reshape it");
  }
  if (const PrimType dtype = std::get<PrimType>(args[4]); dtype != PrimType::Float8_e4m3fn) {
    refuse("numbers are quantized to Float8_e4m3fn, 4 bits have no arithmetic in torch",
           "dtype DataType." + std::string(nameOf(dtype)),
           "pass dtype=DataType.Float8_e4m3fn and block_size=32");
  }
  if (intArg(args[3]) != kBlock) {
    refuse("a block has 32 elements", "block_size " + std::to_string(intArg(args[3])),
           "pass block_size=32");
  }
  if (isGiven(args[1]) || boolArg(args[2])) {
    refuse("scales of Float8_e4m3fn's blocks stand alone, in the order of the blocks",
           "global_scale or swizzle_block_scales", "leave them out");
  }
}

std::vector<PrimType> dtypes(const OpCall& /*call*/) {
  return {PrimType::Float8_e4m3fn, PrimType::Float8_e8m0fnu};
}

/// Blocks are independent of each other once their number is known; until then the last dimension is whole.
DimMap dimMap(const OpCall& call) {
  DimMap map;
  const int64_t last = call.tensors[0].rank() - 1;
  map.inputs.emplace_back(call.tensors[0].domain.size());
  for (int64_t dim = 0; dim < last; ++dim) {
    ownDim(map, call.tensors, 0, dim);
  }
  const IntExpr& extent = call.tensors[0].domain.back().extent;
  map.outputs = {map.inputs[0], map.inputs[0]};
  DimFactors& input = map.inputs[0].back();
  DimFactors& scales = map.outputs[1].back();
  if (!extent.isConstant()) {
    input = {map.addFactor(extent, FactorRole::Opaque)};
    scales = {map.addFactor(floorDiv(extent, kBlock), FactorRole::Opaque)};
  } else {
    if (extent.constant() % kBlock != 0) {
      refuse("the last dimension consists of blocks of 32 elements",
             "size " + extent.toText() + " in " + toText(call.tensors[0]), "pad it");
    }
    if (const int64_t blocks = extent.constant() / kBlock; blocks != 1) {
      scales = {map.addFactor(blocks)};
    }
    input = scales;
    input.push_back(map.addFactor(kBlock, FactorRole::Opaque));
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
    result.args[3] = Scalar(kBlock);
    result.args[4] = PrimType::Float8_e4m3fn;
    return result;
  };
  return {sample({6, 64}), sample({192}), sample({3, 2, 32}), sample({0, 96})};
}

}  // namespace

OpInfo info() {
  OpInfo op = structuredOp(
      kName,
      "The elements divided by a power of two, the least that brings a block of 32 in the last "
      "dimension within Float8_e4m3fn's 448, and the powers in Float8_e8m0fnu: the MX formats of "
      "the Open Compute Project, from torch.frexp and torch.ldexp",
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
