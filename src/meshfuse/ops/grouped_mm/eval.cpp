#include <vector>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::grouped_mm {

namespace {

struct Group {
  int64_t begin;
  int64_t size;
};

/// The groups that end at `offsets` of a dimension of `size`.
std::vector<Group> groupsOf(const at::Tensor& offsets, int64_t size) {
  const at::Tensor ends = offsets.to(at::kLong).cpu().contiguous();
  const std::vector<int64_t> values(ends.const_data_ptr<int64_t>(),
                                    ends.const_data_ptr<int64_t>() + ends.numel());
  std::vector<Group> groups;
  int64_t begin = 0;
  for (int64_t end : values) {
    if (end < begin || end > size) {
      throwUser(ErrorKind::Index,
                {"grouped_mm", "offsets ascend within the dimension that they divide",
                 "got " + toText(values) + " for a dimension of size " + std::to_string(size),
                 "pass the end of each group, from 0 to the size"});
    }
    groups.push_back({begin, end - begin});
    begin = end;
  }
  return groups;
}

/// One number a row of mat1 and a column of mat2, for all groups or for each; none for a plain product.
struct Scales {
  at::Tensor rows;     // [m, 1] or [g, m, 1]
  at::Tensor columns;  // [1, n] or [g, 1, n]
};

/// A scale's part for a group: where it has no groups, that of the rows or columns the group takes.
at::Tensor partOf(const at::Tensor& scale, int64_t group, int64_t dim, const Group* taken) {
  const at::Tensor part = scale.dim() == 2 ? scale : scale[scale.size(0) == 1 ? 0 : group];
  return taken == nullptr || part.size(dim) == 1 ? part
                                                 : part.narrow(dim, taken->begin, taken->size);
}

/// The product of one group; `rows` and `columns` are the group where it takes part of them.
at::Tensor productOf(const at::Tensor& mat1, const at::Tensor& mat2, const Scales& scales,
                     int64_t group, const Group* rows, const Group* columns) {
  const at::Tensor product = at::mm(mat1, mat2);
  return scales.rows.defined() ? product * partOf(scales.rows, group, 0, rows) *
                                     partOf(scales.columns, group, 1, columns)
                               : product;
}

}  // namespace

/// On an accelerator the host waits for the offsets.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const bool isScaled = call.has(3);
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  const auto operand = [&](size_t arg) {
    return isScaled ? call.tensor(arg).to(at::kFloat) : call.tensor(arg);
  };
  const at::Tensor mat1 = operand(0);
  const at::Tensor mat2 = operand(1);
  at::Tensor result = at::zeros(call.outputSizes[0], mat1.options().dtype(dtype));
  if (result.is_meta()) {
    return {result};
  }
  const Scales scales = isScaled ? Scales{operand(3), operand(4)} : Scales{};
  const bool dividesN = mat1.dim() == 3;
  const bool dividesM = mat2.dim() == 3;
  const std::vector<Group> groups =
      groupsOf(call.tensor(2), dividesN ? mat2.size(1) : mat1.size(dividesM ? 0 : 1));
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [begin, size] = groups[i];
    const auto group = static_cast<int64_t>(i);
    if (dividesN) {
      result.narrow(1, begin, size)
          .copy_(productOf(mat1[group], mat2.narrow(1, begin, size), scales, group, nullptr,
                           &groups[i]));
    } else if (dividesM) {
      result.narrow(0, begin, size)
          .copy_(productOf(mat1.narrow(0, begin, size), mat2[group], scales, group, &groups[i],
                           nullptr));
    } else {
      result[group].copy_(productOf(mat1.narrow(1, begin, size), mat2.narrow(0, begin, size),
                                    scales, group, nullptr, nullptr));
    }
  }
  return {result};
}

}  // namespace meshfuse::ops::grouped_mm
