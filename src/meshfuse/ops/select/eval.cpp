#include <ATen/ATen.h>

#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::select {

/// A view. torch checks the index.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  const PolymorphicValue& index = call.values[1];
  const int64_t dim = std::get<Scalar>(call.expr->args[2]).toInt();
  if (!index.is<at::Tensor>()) {
    return {at::select(call.tensor(0), dim, toScalar(index).toInt())};
  }
  // By a tensor operation, so that an index on a device is not waited for.
  const int64_t size = call.tensor(0).size(dim);
  const at::Tensor given = index.asTensor().reshape({1});
  const at::Tensor wrapped = at::where(at::lt(given, 0), at::add(given, size), given);
  const at::Tensor row = checkedIndex("select", wrapped, dim, size);
  return {at::index_select(call.tensor(0), dim, row).squeeze(dim)};
}

}  // namespace meshfuse::ops::select
