#include <ATen/ATen.h>

#include "meshfuse/evaluator/random_numbers.h"

namespace meshfuse::ops::rand_like {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const at::Tensor like = call.tensor(0);
  const at::Tensor numbers = uniformNumbers(streamOf(call, 0, 0), call.outputSizes[0], 0.0, 1.0,
                                            like.scalar_type(), like.device());
  return {at::empty_like(like).copy_(numbers)};
}

}  // namespace meshfuse::ops::rand_like
