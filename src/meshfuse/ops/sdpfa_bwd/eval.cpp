#include <ATen/ATen.h>

#include "meshfuse/evaluator/attention_eval.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::sdpfa_bwd {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  AttentionCall attention{call.tensor(1), call.tensor(2), call.tensor(3)};
  readAttentionOptions(call, 6, 7, 10, attention);
  const auto [gradQuery, gradKey, gradValue] =
      attendBackward(attention, {call.tensor(0), call.tensor(4), call.tensor(5)});
  return {inMemoryOrderOf(gradQuery, attention.query), inMemoryOrderOf(gradKey, attention.key),
          inMemoryOrderOf(gradValue, attention.value)};
}

}  // namespace meshfuse::ops::sdpfa_bwd
