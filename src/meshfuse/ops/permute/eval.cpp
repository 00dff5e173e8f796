#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::permute {

/// A view.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {call.tensor(0).permute(std::get<Ints>(call.expr->args[1]))};
}

}  // namespace meshfuse::ops::permute
