#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/evaluator/index_values.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse::ops::embedding_fwd {

namespace {

void checkPadding(int64_t row, int64_t rows) {
  if (row < -rows || row >= rows) {
    throwUser(ErrorKind::Runtime,
              {"embedding_fwd", "padding_idx is a row of the weight",
               "got " + std::to_string(row) + " for " + std::to_string(rows) + " rows",
               "pass one of its rows, or None"});
  }
}

}  // namespace

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  at::Tensor weight = call.tensor(1);
  if (call.has(2)) {
    checkPadding(toScalar(call.values[2]).toInt(), weight.size(0));
  }
  const at::Tensor rows = checkedIndex("embedding_fwd", call.tensor(0), 0, weight.size(0));
  if (call.has(3) && !weight.is_meta()) {
    const double order = call.has(4) ? toScalar(call.values[4]).toDouble() : 2.0;
    weight = weight.clone();
    at::embedding_renorm_(weight, rows.flatten(), toScalar(call.values[3]).toDouble(), order);
  }
  return {at::embedding(weight, rows)};
}

}  // namespace meshfuse::ops::embedding_fwd
