#include <optional>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::var_mean {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const std::vector<Arg>& args = call.expr->args;
  // Spelled out: a plain integer would choose the overload whose second number is a bool.
  const std::optional<at::Scalar> correction(std::get<Scalar>(args[2]).toInt());
  const bool keepdim = std::get<Scalar>(args[3]).toBool();
  auto [var, mean] = at::var_mean(call.tensor(0), std::get<Ints>(args[1]), correction, keepdim);
  return {std::move(var), std::move(mean)};
}

}  // namespace meshfuse::ops::var_mean
