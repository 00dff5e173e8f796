#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::cat {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {at::cat(call.tensors(0), std::get<Scalar>(call.expr->args[1]).toInt())};
}

}  // namespace meshfuse::ops::cat
