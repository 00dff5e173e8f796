// The memory layouts that calls give their results, before anything runs.
#pragma once

#include <optional>
#include <vector>

#include "meshfuse/evaluator/program_step.h"
#include "meshfuse/runtime/kernel_group.h"

namespace meshfuse {

/// Finds layouts by evaluating calls on tensors without memory, one after the other in the order of the program. What is known of
/// elementwise operations and reductions is not evaluated: the first time that torch does so takes it more than a second.
bool isRowMajor(const TensorLayout& layout);

class CallLayouts {
 public:
  CallLayouts(const Fusion& fusion, int64_t rank) : fusion_(fusion), rank_(rank) {}

  /// Settles the layouts of a library call's results: those that the library gives, views included. Results of a call that takes
  /// numbers which only a run knows, and of a change of placement, are taken to be row-major.
  void settle(const Expr& expr, TensorLayouts& layouts);

  /// Settles the layouts of what a kernel writes: those that the evaluator would give, without their gaps and repetitions.
  /// Values that are only computed get their sizes. The template keeps what was found for dense operands.
  void settle(KernelTemplate& kernel, TensorLayouts& layouts);

 private:
  bool isKnownBefore(const Expr& expr) const;
  void evaluate(const Expr& expr, const TensorLayouts& layouts);
  /// The strides of what a kernel writes.
  std::vector<std::vector<int64_t>> stridesOf(KernelTemplate& kernel, const TensorLayouts& layouts);
  std::vector<std::vector<int64_t>> evaluatedStrides(const KernelTemplate& kernel,
                                                     const TensorLayouts& layouts);
  /// Of a call's results, all in one layout, where that follows from those of its operands.
  std::optional<std::vector<int64_t>> knownStrides(const Expr& expr) const;
  std::vector<int64_t> elementwiseStrides(const Expr& expr) const;
  std::vector<int64_t> sizesOf(ValId val) const;

  const Fusion& fusion_;
  int64_t rank_;
  std::optional<RankState> state_;           // made for the first call
  std::vector<std::vector<int64_t>> sizes_;  // by value; those of results so far
};

}  // namespace meshfuse
