#include <ATen/ATen.h>

#include "meshfuse/evaluator/block_scales_eval.h"

namespace meshfuse::ops::preprocess_grouped_matmul_input_sf {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {
      inGroupedTiles(call, call.tensor(0), call.tensor(1), call.tensor(2), call.outputSizes[0])};
}

}  // namespace meshfuse::ops::preprocess_grouped_matmul_input_sf
