#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::argsort {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  return {at::argsort(call.tensor(0), /*stable=*/std::get<Scalar>(args[3]).toBool(),
                      std::get<Scalar>(args[1]).toInt(), std::get<Scalar>(args[2]).toBool())};
}

}  // namespace meshfuse::ops::argsort
