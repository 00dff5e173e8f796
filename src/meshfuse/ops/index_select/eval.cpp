#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::index_select {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor arg = call.tensor(0);
  const int64_t dim = std::get<Scalar>(call.expr->args[2]).toInt();
  const at::Tensor index = checkedIndex("index_select", call.tensor(1), dim, arg.size(dim));
  return {at::index_select(arg, dim, index.reshape({-1}))};
}

}  // namespace meshfuse::ops::index_select
