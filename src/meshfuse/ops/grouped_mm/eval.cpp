#include <vector>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/evaluator/op_evaluation.h"

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

}  // namespace

/// On an accelerator the host waits for the offsets.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor mat1 = call.tensor(0);
  const at::Tensor mat2 = call.tensor(1);
  at::Tensor result = at::zeros(call.outputSizes[0], mat1.options());
  if (result.is_meta()) {
    return {result};
  }
  const bool dividesN = mat1.dim() == 3;
  const bool dividesM = mat2.dim() == 3;
  const std::vector<Group> groups =
      groupsOf(call.tensor(2), dividesN ? mat2.size(1) : mat1.size(dividesM ? 0 : 1));
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [begin, size] = groups[i];
    const auto group = static_cast<int64_t>(i);
    if (dividesN) {
      result.narrow(1, begin, size).copy_(at::mm(mat1[group], mat2.narrow(1, begin, size)));
    } else if (dividesM) {
      result.narrow(0, begin, size).copy_(at::mm(mat1.narrow(0, begin, size), mat2[group]));
    } else {
      result[group].copy_(at::mm(mat1.narrow(1, begin, size), mat2.narrow(0, begin, size)));
    }
  }
  return {result};
}

}  // namespace meshfuse::ops::grouped_mm
