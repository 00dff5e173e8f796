#include "meshfuse/evaluator/attention_eval.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <c10/util/strides.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/memory_order.h"
#include "meshfuse/base/text.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse {

namespace {

/// The kernels on the host take four dimensions, one size of rows, and no empty operand.
bool hasFusedKernel(const AttentionCall& attention) {
  const auto& [query, key, value, bias, mask, isCausal, scale, dropout, stream] = attention;
  return query.is_cpu() && !bias && !mask && dropout == 0 && query.size(-1) == value.size(-1) &&
         query.numel() > 0 && key.numel() > 0;
}

/// As four dimensions, each row without gaps.
at::Tensor asKernelOperand(const at::Tensor& tensor) {
  const at::Tensor rows = tensor.dim() == 5 ? tensor.flatten(0, 1) : tensor;
  return rows.stride(-1) == 1 ? rows : rows.contiguous();
}

at::Tensor withShapeOf(const at::Tensor& result, const at::Tensor& like) {
  return like.dim() == 5 ? result.unflatten(0, {like.size(0), like.size(1)}) : result;
}

at::ScalarType accumulationType(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// query keyᵀ scale + bias, -inf where a row does not attend.
at::Tensor scoresOf(const AttentionCall& attention) {
  const at::ScalarType type = accumulationType(attention.query);
  at::Tensor scores = at::matmul(attention.query.to(type) * attention.scale,
                                 attention.key.to(type).transpose(-2, -1));
  if (attention.bias) {
    scores = scores + attention.bias->to(type);
  }
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  if (attention.mask) {
    scores = scores.masked_fill(attention.mask->logical_not(), kNever);
  }
  if (attention.isCausal) {
    const at::Tensor later =
        at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).triu_(1);
    scores = scores.masked_fill(later, kNever);
  }
  return scores;
}

/// The rows' weights, all 0 in a row that attends nowhere.
at::Tensor weightsOf(const at::Tensor& scores, const at::Tensor& logsumexp) {
  const at::Tensor sums = logsumexp.unsqueeze(-1);
  return at::exp(scores - sums).masked_fill(at::isneginf(sums), 0.0);
}

/// The weights with the dropped ones 0 and the others in their place.
at::Tensor dropFrom(const at::Tensor& weights, const AttentionCall& attention) {
  if (attention.dropout == 0) {
    return weights;
  }
  const at::Tensor numbers =
      uniformNumbers(attention.stream, weights.sizes(), 0, 1, at::kFloat, weights.device());
  return at::where(at::ge(numbers, attention.dropout), weights / (1 - attention.dropout), 0.0);
}

}  // namespace

void readAttentionOptions(const EvalCall& call, size_t dropout, size_t isCausal, size_t scale,
                          AttentionCall& attention) {
  attention.dropout = call.has(dropout) ? toScalar(call.values[dropout]).toDouble() : 0;
  if (!(attention.dropout >= 0 && attention.dropout <= 1)) {
    throwUser(ErrorKind::Runtime, {call.expr->op->name, "dropout_p is between 0 and 1",
                                   "got " + toText(attention.dropout),
                                   "pass the probability that an element is dropped"});
  }
  attention.isCausal = call.has(isCausal) && toScalar(call.values[isCausal]).toBool();
  attention.scale = call.has(scale) ? toScalar(call.values[scale]).toDouble()
                                    : 1 / std::sqrt(static_cast<double>(attention.query.size(-1)));
}

std::pair<at::Tensor, at::Tensor> attend(const AttentionCall& attention) {
  if (hasFusedKernel(attention)) {
    const auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
        asKernelOperand(attention.query), asKernelOperand(attention.key),
        asKernelOperand(attention.value), /*dropout_p=*/0, attention.isCausal,
        /*attn_mask=*/std::nullopt, attention.scale);
    return {withShapeOf(output, attention.query),
            withShapeOf(logsumexp, attention.query).contiguous()};
  }
  const at::Tensor scores = scoresOf(attention);
  at::Tensor logsumexp = at::logsumexp(scores, -1);
  const at::Tensor weights = dropFrom(weightsOf(scores, logsumexp), attention);
  const at::Tensor output = at::matmul(weights, attention.value.to(weights.scalar_type()));
  return {output.to(attention.query.scalar_type()), std::move(logsumexp)};
}

std::array<at::Tensor, 3> attendBackward(const AttentionCall& attention,
                                         const AttentionResults& results) {
  const auto& [query, key, value, bias, mask, isCausal, scale, dropout, stream] = attention;
  if (hasFusedKernel(attention)) {
    const at::Tensor& sums = results.logsumexp;
    const auto [gradQuery, gradKey, gradValue] =
        at::_scaled_dot_product_flash_attention_for_cpu_backward(
            asKernelOperand(results.gradOutput), asKernelOperand(query), asKernelOperand(key),
            asKernelOperand(value), asKernelOperand(results.output),
            query.dim() == 5 ? sums.flatten(0, 1) : sums, /*dropout_p=*/0, isCausal,
            /*attn_mask=*/std::nullopt, scale);
    return {withShapeOf(gradQuery, query), withShapeOf(gradKey, query),
            withShapeOf(gradValue, query)};
  }
  const at::Tensor weights = weightsOf(scoresOf(attention), results.logsumexp);
  const at::ScalarType type = weights.scalar_type();
  const at::Tensor gradOutput = results.gradOutput.to(type);
  const at::Tensor gradWeights =
      dropFrom(at::matmul(gradOutput, value.to(type).transpose(-2, -1)), attention);
  const at::Tensor mean = at::sum(gradOutput * results.output.to(type), {-1}, /*keepdim=*/true);
  const at::Tensor gradScores = weights * (gradWeights - mean) * scale;
  const at::ScalarType given = query.scalar_type();
  return {at::matmul(gradScores, key.to(type)).to(given),
          at::matmul(gradScores.transpose(-2, -1), query.to(type)).to(given),
          at::matmul(dropFrom(weights, attention).transpose(-2, -1), gradOutput).to(given)};
}

at::Tensor inMemoryOrderOf(const at::Tensor& tensor, const at::Tensor& like) {
  const std::vector<int64_t> order = outermostFirst(like.strides());
  std::vector<int64_t> back(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    back[static_cast<size_t>(order[place])] = static_cast<int64_t>(place);
  }
  const at::Tensor packed = tensor.permute(order).contiguous();
  // A dimension of size 1 may have any stride in a contiguous tensor; here it has the one that its place gives.
  return packed.as_strided(packed.sizes(), c10::contiguous_strides(packed.sizes())).permute(back);
}

}  // namespace meshfuse
