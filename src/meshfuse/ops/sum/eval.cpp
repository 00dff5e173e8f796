#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::sum {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  const PrimType dtype = call.fusion->val(call.expr->outputs.front()).dtype();
  return {at::sum(call.tensor(0), std::get<Ints>(args[1]), std::get<Scalar>(args[2]).toBool(),
                  torchDtype(dtype))};
}

}  // namespace meshfuse::ops::sum
