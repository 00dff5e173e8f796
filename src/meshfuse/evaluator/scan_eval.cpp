#include "meshfuse/evaluator/scan_eval.h"

#include <ATen/ATen.h>

#include "meshfuse/evaluator/pointwise_eval.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse {

at::Tensor scanFrom(const EvalCall& call, at::Tensor (*scan)(const at::Tensor& arg, int64_t dim)) {
  const at::Tensor arg = call.tensor(0);
  const int64_t dim = std::get<Scalar>(call.expr->args[1]).toInt();
  if (!call.has(2)) {
    return scan(arg, dim);
  }
  std::vector<int64_t> sizes = arg.sizes().vec();
  sizes[static_cast<size_t>(dim)] = 1;
  const at::Tensor first =
      toTensor(call.values[2], arg.device()).to(arg.scalar_type()).expand(sizes);
  return scan(at::cat({first, arg}, dim), dim).narrow(dim, 1, arg.size(dim)).contiguous();
}

void checkFitsType(const EvalCall& call) {
  if (call.has(2) && call.tensor(0).scalar_type() == at::kInt) {
    checkFitsInt32(call.expr->op->name, "init", call.values[2]);
  }
}

}  // namespace meshfuse
