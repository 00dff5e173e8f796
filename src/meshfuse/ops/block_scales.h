// Scales of blocks of 4-bit floats: one number for 16 elements of the last dimension, alone or in tiles of 128 by 4.
#pragma once

#include <string>
#include <string_view>

#include "meshfuse/ops/op_info.h"

namespace meshfuse {

/// Elements that share a scale.
constexpr int64_t kFloat4Block = 16;
/// Scales lie in tiles of so many rows and columns, padded to whole ones.
constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 4;

/// The least multiple that is not below the extent.
IntExpr roundedUp(const IntExpr& extent, int64_t multiple);

/// Rows for groups that begin at whole tiles: at most one tile less one row is added for each group.
IntExpr groupedRows(const IntExpr& rows, const IntExpr& groups);

/// Blocks of the last dimension; refuses a constant size that consists of no whole blocks.
IntExpr blocksOf(std::string_view op, const TensorType& type, int64_t block);

/// The factors of all dimensions of the operands, each whole on every rank, for calls that mix them.
DimMap wholeDimMap(const OpCall& call);

/// Refuses all but one dimension of Int32, named `name`.
void checkGroupOffsets(std::string_view op, std::string_view name, const Fusion& fusion,
                       const Arg& arg);

/// Refuses what cannot be quantized in blocks: elements of other types than Float, Half and BFloat16.
void checkQuantized(std::string_view op, const Fusion& fusion, const Arg& input);

/// Refuses a global scale that is no Float tensor without dimensions.
void checkGlobalScale(std::string_view op, const Fusion& fusion, const Arg& scale);

/// Throws UserError(Runtime): `op`, the rule, `got` what was found, the way out.
[[noreturn]] void refuseScales(std::string_view op, std::string_view rule, const std::string& found,
                               std::string_view wayOut);

}  // namespace meshfuse
