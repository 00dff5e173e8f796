#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/evaluator/block_scales_eval.h"
#include "meshfuse/ops/block_scales.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::cutlass_nvfp4_grouped_mm {

namespace {

/// The rows of each group.
std::vector<int64_t> rowsOf(const at::Tensor& problemSizes, int64_t n, int64_t k) {
  const std::vector<int64_t> numbers = numbersOf(problemSizes);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < numbers.size(); i += 3) {
    if (numbers[i + 1] != n || numbers[i + 2] != k) {
      throwUser(ErrorKind::Index,
                {"cutlass_nvfp4_grouped_mm", "problem_sizes has the rows, n and k of each group",
                 "got " + toText(std::span(numbers).subspan(i, 3)) + " for n " + std::to_string(n) +
                     " and k " + std::to_string(k),
                 "pass the sizes of mat2"});
    }
    rows.push_back(numbers[i]);
  }
  return rows;
}

}  // namespace

/// On an accelerator the host waits for the sizes and offsets.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor mat1 = call.tensor(0);
  const at::Tensor mat2 = call.tensor(1);
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  const at::Tensor result = at::zeros(call.outputSizes[0], mat1.options().dtype(dtype));
  if (result.is_meta()) {
    return {result};
  }
  const at::Tensor scale1 = call.tensor(2);
  const std::vector<int64_t> sizes = rowsOf(call.tensor(5), mat2.size(2), mat2.size(1));
  const std::vector<RowGroup> groups = rowGroups(call, call.tensor(6), sizes, mat1.size(0));
  const std::vector<int64_t> tiles = tileRows(call, call.tensor(7), groups, scale1.size(0));
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [begin, size] = groups[i];
    const auto group = static_cast<int64_t>(i);
    const int64_t rows = (size + kTileRows - 1) / kTileRows * kTileRows;
    const at::Tensor first =
        scaledByTiles(mat1.narrow(0, begin, size), scale1.narrow(0, tiles[i], rows));
    const at::Tensor second = scaledByTiles(mat2[group].t(), call.tensor(3)[group]);
    result.narrow(0, begin, size).copy_(at::mm(first, second.t()) * call.tensor(4)[group]);
  }
  return {result};
}

}  // namespace meshfuse::ops::cutlass_nvfp4_grouped_mm
