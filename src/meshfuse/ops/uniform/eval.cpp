#include "meshfuse/evaluator/random_numbers.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::uniform {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  return {uniformNumbers(streamOf(call, 3, 4), call.outputSizes[0],
                         toScalar(call.values[0]).toDouble(), toScalar(call.values[1]).toDouble(),
                         dtype, call.device)};
}

}  // namespace meshfuse::ops::uniform
