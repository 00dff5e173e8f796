#include "meshfuse/evaluator/op_evaluation.h"

#include <ATen/ATen.h>

namespace meshfuse::ops::matmul {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {at::matmul(call.tensor(0), call.tensor(1))};
}

}  // namespace meshfuse::ops::matmul
