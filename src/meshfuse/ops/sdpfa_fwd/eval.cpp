#include <ATen/ATen.h>

#include "meshfuse/evaluator/attention_eval.h"
#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse::ops::sdpfa_fwd {

namespace {

at::Tensor wordsOf(std::initializer_list<uint64_t> words, const at::Tensor& like) {
  const std::vector<int64_t> signedWords(words.begin(), words.end());
  return at::tensor(signedWords, at::kLong).view(at::kUInt64).to(like.device());
}

}  // namespace

/// The seed is the stream's, 0 without dropout.
std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  AttentionCall attention{call.tensor(0), call.tensor(1), call.tensor(2)};
  if (call.has(3)) {
    attention.bias = call.tensor(3);
  }
  if (call.has(4)) {
    attention.mask = call.tensor(4);
  }
  readAttentionOptions(call, 5, 6, 7, attention);
  attention.stream = {call.seed.value_or(0), 0};
  const auto [output, logsumexp] = attend(attention);
  return {inMemoryOrderOf(output, attention.query), logsumexp,
          wordsOf({attention.stream.seed, 0}, output),
          wordsOf({attention.stream.offset}, output).squeeze(0)};
}

}  // namespace meshfuse::ops::sdpfa_fwd
