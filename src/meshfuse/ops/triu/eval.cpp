#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::triu {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {at::triu(call.tensor(0), std::get<Scalar>(call.expr->args[1]).toInt())};
}

}  // namespace meshfuse::ops::triu
