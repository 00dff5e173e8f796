#include <utility>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::topk {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  const at::Tensor arg = call.tensor(0);
  // torch selects among bools on no CPU.
  const bool isBool = arg.scalar_type() == at::kBool;
  const int64_t dim = std::get<Scalar>(args[2]).toInt();
  const int64_t count = arg.dim() == 0 ? 1 : call.outputSizes[0][static_cast<size_t>(dim)];
  auto [values, indices] = at::topk(isBool ? arg.to(at::kByte) : arg, count, dim,
                                    /*largest=*/std::get<Scalar>(args[3]).toBool(),
                                    /*sorted=*/std::get<Scalar>(args[4]).toBool());
  return {values.to(arg.scalar_type()), std::move(indices)};
}

}  // namespace meshfuse::ops::topk
