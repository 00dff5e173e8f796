#include <ATen/ATen.h>

#include "meshfuse/evaluator/block_scales_eval.h"

namespace meshfuse::ops::nv_grouped_block_quantize {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  auto [values, scales] =
      quantizeToFloat4(call.tensor(0), call.has(3) ? call.tensor(3) : at::Tensor());
  return {std::move(values),
          inGroupedTiles(call, scales, call.tensor(1), call.tensor(2), call.outputSizes[1])};
}

}  // namespace meshfuse::ops::nv_grouped_block_quantize
