#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::gather {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor arg = call.tensor(0);
  const int64_t dim = std::get<Scalar>(call.expr->args[2]).toInt();
  return {at::gather(arg, dim, checkedIndex("gather", call.tensor(1), dim, arg.size(dim)))};
}

}  // namespace meshfuse::ops::gather
