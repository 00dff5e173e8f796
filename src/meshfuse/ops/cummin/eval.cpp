#include <tuple>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/scan_eval.h"

namespace meshfuse::ops::cummin {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  checkFitsType(call);
  return {scanFrom(
      call, [](const at::Tensor& arg, int64_t dim) { return std::get<0>(at::cummin(arg, dim)); })};
}

}  // namespace meshfuse::ops::cummin
