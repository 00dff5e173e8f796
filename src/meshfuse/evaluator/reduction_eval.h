// What the evaluations of reductions share.
#pragma once

#include <ATen/core/Tensor.h>

#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/mesh/placement.h"

namespace meshfuse {

/// The result of a call of max or min (`kind`): over no elements, what no element is beyond.
at::Tensor extremum(const EvalCall& call, ReduceKind kind);

/// A tensor whose reduced dimensions hold each element once.
struct WithoutRepeats {
  at::Tensor arg;
  int64_t repeats;  // how often each of its elements was there
};

/// `arg` with those of `dims` that repeat one element (expanded ones, of stride 0) cut down to it: a small tensor expanded to
/// billions of elements is reduced as the small one.
WithoutRepeats withoutRepeats(const at::Tensor& arg, const Ints& dims);

/// How many elements are reduced to one over `dims`; 1 for a 0-d tensor.
int64_t reducedCount(const at::Tensor& arg, const Ints& dims);

/// Sum over `dims` of the plain squares of what differs from the mean over `dims`, for floating and complex tensors.
at::Tensor squaredDeviations(const at::Tensor& arg, const Ints& dims, bool keepdim);

}  // namespace meshfuse
