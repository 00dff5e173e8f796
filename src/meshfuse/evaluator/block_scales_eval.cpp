#include "meshfuse/evaluator/block_scales_eval.h"

#include <limits>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/values/packed_floats.h"

namespace meshfuse {

namespace {

constexpr double kLargestFloat4 = 6;
constexpr double kLargestScale = 448;  // of Float8_e4m3fn
constexpr double kLargestFloat = std::numeric_limits<float>::max();

/// Within 32 rows, of which a tile has four.
constexpr int64_t kRowsTogether = 32;

int64_t roundedUpTo(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

[[noreturn]] void refuseOffsets(const EvalCall& call, std::string_view rule,
                                std::span<const int64_t> offsets, const std::string& found,
                                std::string_view wayOut) {
  throwUser(ErrorKind::Index,
            {call.expr->op->name, rule, "got " + toText(offsets) + found, wayOut});
}

}  // namespace

std::vector<int64_t> numbersOf(const at::Tensor& tensor) {
  const at::Tensor numbers = tensor.to(at::kLong).cpu().contiguous();
  return {numbers.const_data_ptr<int64_t>(), numbers.const_data_ptr<int64_t>() + numbers.numel()};
}

std::pair<at::Tensor, at::Tensor> quantizeToFloat4(const at::Tensor& numbers,
                                                   const at::Tensor& globalScale) {
  const at::Tensor blocks =
      numbers.to(at::kFloat).unflatten(-1, {numbers.size(-1) / kFloat4Block, kFloat4Block});
  at::Tensor wanted = at::amax(at::abs(blocks), -1) / kLargestFloat4;
  if (globalScale.defined()) {
    wanted = wanted * globalScale;
  }
  const at::Tensor scales = at::clamp(wanted, -kLargestScale, kLargestScale).to(at::kFloat8_e4m3fn);
  at::Tensor divisor = scales.to(at::kFloat);
  if (globalScale.defined()) {
    divisor = divisor / globalScale;
  }
  const at::Tensor factors =
      at::clamp(at::reciprocal(divisor), -kLargestFloat, kLargestFloat).unsqueeze(-1);
  return {roundToFloat4(blocks * factors).flatten(-2), scales};
}

at::Tensor inTiles(const at::Tensor& scales) {
  const int64_t rows = roundedUpTo(scales.size(0), kTileRows);
  const int64_t columns = roundedUpTo(scales.size(1), kTileColumns);
  const at::Tensor padded = at::zeros({rows, columns}, scales.options());
  padded.narrow(0, 0, scales.size(0)).narrow(1, 0, scales.size(1)).copy_(scales);
  return padded
      .view({rows / kTileRows, kTileRows / kRowsTogether, kRowsTogether, columns / kTileColumns,
             kTileColumns})
      .transpose(1, 3)
      .contiguous()
      .view({rows, columns});
}

at::Tensor scaledByTiles(const at::Tensor& rows, const at::Tensor& tiled) {
  const at::Tensor scales = tiled.to(at::kFloat)
                                .contiguous()
                                .view({tiled.size(0) / kTileRows, tiled.size(1) / kTileColumns,
                                       kRowsTogether, kTileRows / kRowsTogether, kTileColumns})
                                .transpose(1, 3)
                                .reshape(tiled.sizes())
                                .narrow(0, 0, rows.size(0))
                                .narrow(1, 0, rows.size(1) / kFloat4Block);
  return rows.to(at::kFloat) * at::repeat_interleave(scales, kFloat4Block, 1);
}

std::vector<RowGroup> rowGroups(const EvalCall& call, const at::Tensor& offsets,
                                std::span<const int64_t> sizes, int64_t rows) {
  const std::vector<int64_t> begins = numbersOf(offsets);
  std::vector<RowGroup> groups;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t next = i + 1 < begins.size() ? begins[i + 1] : rows;
    const int64_t size = sizes.empty() ? next - begins[i] : sizes[i];
    if (begins[i] < 0 || size < 0 || begins[i] + size > next || next > rows) {
      refuseOffsets(call, "groups follow each other within the rows", begins,
                    " for " + std::to_string(rows) + " rows" +
                        (sizes.empty() ? "" : " and groups of " + toText(sizes) + " rows"),
                    "pass the first row of each group, from 0 to the number of rows");
    }
    groups.push_back({begins[i], size});
  }
  return groups;
}

std::vector<int64_t> tileRows(const EvalCall& call, const at::Tensor& offsets,
                              std::span<const RowGroup> groups, int64_t rows) {
  std::vector<int64_t> begins = numbersOf(offsets);
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t next = i + 1 < begins.size() ? begins[i + 1] : rows;
    const int64_t end = begins[i] + roundedUpTo(groups[i].size, kTileRows);
    if (begins[i] < 0 || begins[i] % kTileRows != 0 || end > next || next > rows) {
      refuseOffsets(call, "each group's scales begin at a whole tile of 128 rows, after the last's",
                    begins,
                    " for " + std::to_string(rows) + " rows, where group " + std::to_string(i) +
                        " has " + std::to_string(groups[i].size),
                    "add up the groups' sizes, each rounded up to a multiple of 128");
    }
  }
  return begins;
}

at::Tensor inGroupedTiles(const EvalCall& call, const at::Tensor& scales,
                          const at::Tensor& inputOffsets, const at::Tensor& outputOffsets,
                          at::IntArrayRef sizes) {
  const at::Tensor result = at::zeros(sizes, scales.options());
  if (result.is_meta()) {
    return result;
  }
  const std::vector<RowGroup> groups = rowGroups(call, inputOffsets, {}, scales.size(0));
  const std::vector<int64_t> begins = tileRows(call, outputOffsets, groups, sizes[0]);
  for (size_t i = 0; i < groups.size(); ++i) {
    const at::Tensor tiles = inTiles(scales.narrow(0, groups[i].begin, groups[i].size));
    result.narrow(0, begins[i], tiles.size(0)).copy_(tiles);
  }
  return result;
}

}  // namespace meshfuse
