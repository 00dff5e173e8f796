// Attention with ATen: torch's fused kernels on the host where they apply, else a composition of matrix products.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/random_numbers.h"

namespace meshfuse {

/// What a call asks for. Query [..., H, L, E], key [..., H, S, E], value [..., H, S, V].
struct AttentionCall {
  at::Tensor query, key, value;
  std::optional<at::Tensor> bias = std::nullopt;  // added to the scores
  std::optional<at::Tensor> mask = std::nullopt;  // True where a row attends
  bool isCausal = false;
  double scale = 1;
  double dropout = 0;  // the probability that a weight is dropped; `stream` says which ones
  RandomStream stream = {};
};

/// The gradients that a backward pass starts from, and the forward pass's results.
struct AttentionResults {
  at::Tensor gradOutput, output, logsumexp;
};

/// Reads dropout_p, is_causal and scale at arguments `dropout`, `isCausal` and `scale` into `attention`. Throws
/// UserError(Runtime) for a dropout outside [0, 1].
void readAttentionOptions(const EvalCall& call, size_t dropout, size_t isCausal, size_t scale,
                          AttentionCall& attention);

/// Output [..., H, L, V] and logarithms of the rows' sums of exponentials [..., H, L]: 0 and -inf for a row that attends nowhere.
std::pair<at::Tensor, at::Tensor> attend(const AttentionCall& attention);

/// The gradients of query, key and value; no bias, no mask.
std::array<at::Tensor, 3> attendBackward(const AttentionCall& attention,
                                         const AttentionResults& results);

/// `tensor` without gaps and with its dimensions in memory as those of `like` are.
at::Tensor inMemoryOrderOf(const at::Tensor& tensor, const at::Tensor& like);

}  // namespace meshfuse
