#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::size {

/// The size of the tensor that is here: of a whole one. Programs for shards hold the number instead.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {PolymorphicValue(call.tensor(0).size(std::get<Scalar>(call.expr->args[1]).toInt()))};
}

}  // namespace meshfuse::ops::size
