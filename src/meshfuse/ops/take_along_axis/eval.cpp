#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::take_along_axis {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor arg = call.tensor(0);
  const int64_t dim = std::get<Scalar>(call.expr->args[2]).toInt();
  const at::Tensor index = checkedIndex("take_along_axis", call.tensor(1), dim, arg.size(dim));
  return {at::take_along_dim(arg, index, dim)};
}

}  // namespace meshfuse::ops::take_along_axis
