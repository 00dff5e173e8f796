#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::cummax {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {std::get<0>(at::cummax(call.tensor(0), std::get<Scalar>(call.expr->args[1]).toInt()))};
}

}  // namespace meshfuse::ops::cummax
