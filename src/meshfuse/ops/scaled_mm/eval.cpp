#include <ATen/ATen.h>

#include "meshfuse/evaluator/block_scales_eval.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::scaled_mm {

namespace {

at::Tensor scaled(const at::Tensor& matrix, const at::Tensor& scale) {
  at::Tensor factors = scale.to(at::kFloat);
  for (int64_t dim = 0; factors.dim() == 2 && dim < 2; ++dim) {
    const int64_t count = factors.size(dim);
    if (count != 1 && count != matrix.size(dim)) {
      factors = at::repeat_interleave(factors, matrix.size(dim) / count, dim);
    }
  }
  return matrix.to(at::kFloat) * factors;
}

bool isTiled(const EvalCall& call, size_t matrix) {
  const ValId id = std::get<ValId>(call.expr->args[matrix]);
  return call.fusion->val(id).dtype() == PrimType::Float4_e2m1fn &&
         call.tensor(matrix + 2).dim() == 2;
}

}  // namespace

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  at::Tensor result =
      at::mm(isTiled(call, 0) ? scaledByTiles(call.tensor(0), call.tensor(2))
                              : scaled(call.tensor(0), call.tensor(2)),
             isTiled(call, 1) ? scaledByTiles(call.tensor(1).t(), call.tensor(3)).t()
                              : scaled(call.tensor(1), call.tensor(3)));
  const auto number = [&](size_t arg) {
    return toTensor(call.values[arg], result.device()).to(at::kFloat);
  };
  if (call.has(4)) {
    result = result * number(4);
  }
  if (call.has(5)) {
    const at::Tensor bias = call.tensor(5).to(at::kFloat);
    result = result + (call.has(6) ? bias * number(6) : bias);
  }
  return {result.to(torchDtype(call.fusion->val(call.expr->outputs.front()).dtype()))};
}

}  // namespace meshfuse::ops::scaled_mm
