#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::embedding_fwd {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor weight = call.tensor(1);
  return {at::embedding(weight, checkedIndex("embedding_fwd", call.tensor(0), 0, weight.size(0)))};
}

}  // namespace meshfuse::ops::embedding_fwd
