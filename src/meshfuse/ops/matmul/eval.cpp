#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::matmul {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor a = call.tensor(0);
  const at::Tensor b = call.tensor(1);
  if (a.dim() == 1 && b.dim() == 1) {
    // A dot product runs on no meta tensors in torch; a matrix of one row does.
    return {at::matmul(a.unsqueeze(0), b).squeeze(0)};
  }
  return {at::matmul(a, b)};
}

}  // namespace meshfuse::ops::matmul
