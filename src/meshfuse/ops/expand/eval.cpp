#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::expand {

/// A view: stretched dimensions have stride 0.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {call.tensor(0).expand(call.outputSizes[0])};
}

}  // namespace meshfuse::ops::expand
