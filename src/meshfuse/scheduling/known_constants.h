// What calls give whose operands are constants.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "meshfuse/ir/fusion.h"

namespace meshfuse {

/// Follows the calls of a fusion in order and computes those that it can. Numbers are computed as the evaluator does; of tensors
/// only truth values and 64-bit integers are, for which there is one way to wrap and nothing to round.
class KnownConstants {
 public:
  explicit KnownConstants(const Fusion& fusion);

  /// A number that is known; nullopt for tensors as well.
  const std::optional<Scalar>& numberOf(ValId val) const { return numbers_[indexOf(val)]; }

  /// Computes a call on numbers. False where one of them is not known, and where the evaluator has another way to the result or
  /// refuses it: a division by zero throws where the call is made.
  bool foldsToNumber(const Expr& expr);

  /// The call of `full` that gives what `expr` gives on tensors filled with one number each; nullopt where that is not known.
  std::optional<Expr> filled(const Expr& expr);

 private:
  std::optional<Scalar> numberOf(const Arg& arg) const;
  std::optional<Scalar> fillOf(const Arg& arg, const TensorType& result) const;
  std::optional<Scalar> folded(const Expr& expr, std::span<const Scalar> operands,
                               std::span<const TensorType> tensors) const;

  const Fusion& fusion_;
  std::vector<std::optional<Scalar>> numbers_;  // by value
  std::vector<std::optional<Scalar>> fills_;    // by value: what every element is
};

}  // namespace meshfuse
