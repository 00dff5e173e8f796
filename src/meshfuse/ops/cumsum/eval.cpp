#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::cumsum {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor arg = call.tensor(0);
  // torch has no scans of bools.
  const at::ScalarType compute = arg.scalar_type() == at::kBool ? at::kLong : arg.scalar_type();
  const int64_t dim = std::get<Scalar>(call.expr->args[1]).toInt();
  return {at::cumsum(arg, dim, compute).to(arg.scalar_type())};
}

}  // namespace meshfuse::ops::cumsum
