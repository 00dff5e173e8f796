// Blocks of 4-bit floats and their scales, computed with ATen.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse {

/// The numbers of the last dimension in 4-bit floats, held, and a scale in Float8_e4m3fn for each block of 16; `globalScale` is
/// undefined or a number that the scales are multiplied by.
std::pair<at::Tensor, at::Tensor> quantizeToFloat4(const at::Tensor& numbers,
                                                   const at::Tensor& globalScale);

/// Scales of rows by blocks in tiles of 128 by 4, one after another by rows of tiles; within a tile the rows of which the number
/// modulo 32 is the same are neighbours. Padded with 0 to whole tiles.
at::Tensor inTiles(const at::Tensor& scales);

/// Held 4-bit floats [rows, k] in Float, times the scales of their blocks, which lie in tiles.
at::Tensor scaledByTiles(const at::Tensor& rows, const at::Tensor& tiled);

/// Rows [begin, begin + size) of a group.
struct RowGroup {
  int64_t begin;
  int64_t size;
};

/// Groups that begin at `offsets`, of these sizes or, with none, up to the next; UserError(Index) where they do not follow each
/// other within `rows`.
std::vector<RowGroup> rowGroups(const EvalCall& call, const at::Tensor& offsets,
                                std::span<const int64_t> sizes, int64_t rows);

/// The first row of each group's tiles among `rows`; UserError(Index) where a group does not begin at a whole tile or its tiles do
/// not fit before the next.
std::vector<int64_t> tileRows(const EvalCall& call, const at::Tensor& offsets,
                              std::span<const RowGroup> groups, int64_t rows);

/// Each group's scales in tiles of their own, which begin at these rows of [rows, columns].
at::Tensor inGroupedTiles(const EvalCall& call, const at::Tensor& scales,
                          const at::Tensor& inputOffsets, const at::Tensor& outputOffsets,
                          at::IntArrayRef sizes);

/// Whole numbers of a tensor; on an accelerator the host waits for them.
std::vector<int64_t> numbersOf(const at::Tensor& tensor);

}  // namespace meshfuse
