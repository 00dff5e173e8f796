#include <ATen/ATen.h>

#include "meshfuse/evaluator/attention_eval.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::sdpfa_fwd {

/// Without dropout no random numbers are drawn: seed and offset are 0.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  AttentionCall attention{call.tensor(0), call.tensor(1), call.tensor(2)};
  if (call.has(3)) {
    attention.bias = call.tensor(3);
  }
  if (call.has(4)) {
    attention.mask = call.tensor(4);
  }
  readAttentionOptions(call, 5, 6, 7, attention);
  const auto [output, logsumexp] = attend(attention);
  const at::TensorOptions random = attention.query.options().dtype(at::kUInt64);
  return {inMemoryOrderOf(output, attention.query), logsumexp, at::zeros({2}, random),
          at::zeros({}, random)};
}

}  // namespace meshfuse::ops::sdpfa_fwd
