// The memory layouts that library calls give their results, before anything runs.
#pragma once

#include <optional>
#include <vector>

#include "meshfuse/evaluator/program_step.h"
#include "meshfuse/runtime/kernel_group.h"

namespace meshfuse {

/// Finds layouts by evaluating calls on tensors without memory, one after the other in the order of the program.
class CallLayouts {
 public:
  CallLayouts(const Fusion& fusion, int64_t rank) : fusion_(fusion), rank_(rank) {}

  /// Settles the layouts of a call's results: those that the library gives, views included. Results of a call that takes numbers
  /// which only a run knows, and of a change of placement, are taken to be row-major.
  void settle(const Expr& expr, TensorLayouts& layouts);

 private:
  bool isKnownBefore(const Expr& expr) const;
  void evaluate(const Expr& expr, const TensorLayouts& layouts);

  const Fusion& fusion_;
  int64_t rank_;
  std::optional<RankState> state_;           // made for the first call
  std::vector<std::vector<int64_t>> sizes_;  // by value; those of results so far
};

}  // namespace meshfuse
