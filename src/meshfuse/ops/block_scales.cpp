#include "meshfuse/ops/block_scales.h"

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/contraction.h"

namespace meshfuse {

void refuseScales(std::string_view op, std::string_view rule, const std::string& found,
                  std::string_view wayOut) {
  throwUser(ErrorKind::Runtime, {op, rule, "got " + found, wayOut});
}

IntExpr roundedUp(const IntExpr& extent, int64_t multiple) {
  return ceilDiv(extent, multiple) * multiple;
}

IntExpr groupedRows(const IntExpr& rows, const IntExpr& groups) {
  return rows + groups * (kTileRows - 1);
}

IntExpr blocksOf(std::string_view op, const TensorType& type, int64_t block) {
  const IntExpr& extent = type.domain.back().extent;
  if (extent.isConstant() && extent.constant() % block != 0) {
    refuseScales(op,
                 "the last dimension consists of blocks of " + std::to_string(block) + " elements",
                 "size " + extent.toText() + " in " + toText(type), "pad it");
  }
  return floorDiv(extent, block);
}

DimMap wholeDimMap(const OpCall& call) {
  DimMap map;
  for (const TensorType& tensor : call.tensors) {
    map.inputs.emplace_back(tensor.domain.size());
  }
  for (size_t operand = 0; operand < call.tensors.size(); ++operand) {
    for (int64_t dim = 0; dim < call.tensors[operand].rank(); ++dim) {
      ownDim(map, call.tensors, operand, dim, FactorRole::Opaque);
    }
  }
  return map;
}

void checkGroupOffsets(std::string_view op, std::string_view name, const Fusion& fusion,
                       const Arg& arg) {
  const TensorType& type = tensorArg(fusion, arg);
  if (type.rank() != 1 || type.dtype != PrimType::Int32) {
    refuseScales(op, std::string(name) + " has one dimension, of Int32", describe(fusion, arg),
                 "pass the first row of each group");
  }
}

void checkQuantized(std::string_view op, const Fusion& fusion, const Arg& input) {
  const TensorType& type = tensorArg(fusion, input);
  const bool isQuantized = type.dtype == PrimType::Float || type.dtype == PrimType::Half ||
                           type.dtype == PrimType::BFloat16;
  if (!isQuantized || type.rank() == 0) {
    refuseScales(op, "the input is of Float, Half or BFloat16 and has dimensions",
                 describe(fusion, input), "cast or reshape it");
  }
}

void checkGlobalScale(std::string_view op, const Fusion& fusion, const Arg& scale) {
  if (!isGiven(scale)) {
    return;
  }
  const TensorType& type = tensorArg(fusion, scale);
  if (type.rank() != 0 || type.dtype != PrimType::Float) {
    refuseScales(op, "the global scale is a tensor of Float without dimensions",
                 describe(fusion, scale), "cast and squeeze it");
  }
}

}  // namespace meshfuse
