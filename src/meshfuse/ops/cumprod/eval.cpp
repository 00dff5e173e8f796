#include <ATen/ATen.h>

#include "meshfuse/evaluator/scan_eval.h"

namespace meshfuse::ops::cumprod {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {scanFrom(call, [](const at::Tensor& arg, int64_t dim) {
    // torch has no scans of bools.
    const at::ScalarType compute = arg.scalar_type() == at::kBool ? at::kLong : arg.scalar_type();
    return at::cumprod(arg, dim, compute).to(arg.scalar_type());
  })};
}

}  // namespace meshfuse::ops::cumprod
