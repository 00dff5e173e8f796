#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/ops/full/op.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse::ops::full {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  checkFits(toScalar(call.values[1]), call.fusion->val(call.expr->outputs.front()).dtype());
  const at::ScalarType dtype = torchDtype(call.fusion->val(call.expr->outputs.front()).dtype());
  const at::Tensor value = toTensor(call.values[1], call.device).to(dtype);
  return {value.expand(call.outputSizes[0]).clone(at::MemoryFormat::Contiguous)};
}

}  // namespace meshfuse::ops::full
