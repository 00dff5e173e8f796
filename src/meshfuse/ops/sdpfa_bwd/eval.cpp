#include <ATen/ATen.h>

#include "meshfuse/evaluator/attention_eval.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::sdpfa_bwd {

namespace {

/// The first number of a seed or offset; 0 of a tensor without data.
uint64_t wordOf(const at::Tensor& tensor) {
  if (tensor.is_meta()) {
    return 0;
  }
  const at::Tensor first = tensor.flatten()[0].cpu();
  const at::Tensor word = first.scalar_type() == at::kUInt64 ? first.view(at::kLong) : first;
  return static_cast<uint64_t>(word.item<int64_t>());
}

}  // namespace

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  AttentionCall attention{call.tensor(1), call.tensor(2), call.tensor(3)};
  readAttentionOptions(call, 6, 7, 10, attention);
  if (attention.dropout > 0) {
    attention.stream = {wordOf(call.tensor(8)), wordOf(call.tensor(9))};
  }
  const auto [gradQuery, gradKey, gradValue] =
      attendBackward(attention, {call.tensor(0), call.tensor(4), call.tensor(5)});
  return {inMemoryOrderOf(gradQuery, attention.query), inMemoryOrderOf(gradKey, attention.key),
          inMemoryOrderOf(gradValue, attention.value)};
}

}  // namespace meshfuse::ops::sdpfa_bwd
