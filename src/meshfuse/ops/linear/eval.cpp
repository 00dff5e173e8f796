#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::linear {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {call.has(2) ? at::linear(call.tensor(0), call.tensor(1), call.tensor(2))
                      : at::linear(call.tensor(0), call.tensor(1))};
}

}  // namespace meshfuse::ops::linear
