// Operations that read operands at other positions than the output's: slice, pad and cat, and the calls that are computed on the
// way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/scheduling/loop_form.h"

namespace meshfuse {

/// An operand (among tensors) of a pad, cat or slice: its element at a position of the output lies elsewhere in it.
struct ShiftStep {
  ExprId call{};
  size_t operand = 0;

  bool operator==(const ShiftStep&) const = default;
};
/// Shifts one after the other, that of the call which makes the output first.
using ShiftPath = std::vector<ShiftStep>;

inline bool readsShifted(Body body) noexcept {
  return body == Body::Slice || body == Body::Pad || body == Body::Cat;
}

/// By dimension: what is added to a position in the call's output for the one in the operand.
std::vector<int64_t> shiftsOf(const Fusion& fusion, ShiftStep step);

/// The tensors among a call's arguments, in order.
std::vector<ValId> tensorsOf(const Fusion& fusion, const Expr& expr);

/// Which calls are computed where a slice, pad or cat reads their results, and nowhere else: slices, and for a pad or cat cheap
/// pointwise ones without broadcasting, each with one user. What they read lies in memory.
class Absorption {
 public:
  /// `isNeeded` and `isResult` are by value.
  Absorption(const Fusion& fusion, const std::vector<bool>& isNeeded,
             const std::vector<bool>& isResult);

  bool isAbsorbed(ExprId expr) const { return isAbsorbed_[indexOf(expr)]; }
  /// Those that the call computes on the way, in the order of the fusion.
  std::vector<ExprId> absorbedBy(ExprId call) const;
  /// What the call reads, its own arguments or those of what it absorbs; numbers among them.
  std::vector<ValId> sourcesOf(ExprId call) const;
  /// Lets the call absorb nothing.
  void release(ExprId call);

 private:
  bool isSlice(ExprId expr) const;
  bool canAbsorb(ExprId expr) const;
  /// What is absorbed is computed for every element of the output, and counts as one call of the kernel: no more than a few.
  static constexpr size_t kMostAbsorbed = 16;

  /// Up to `left` more; only slices where `slicesOnly`.
  void absorbInto(ExprId call, bool slicesOnly, size_t& left);
  void visit(ExprId call, std::vector<ExprId>& absorbed, std::vector<ValId>& sources) const;

  const Fusion& fusion_;
  std::vector<bool> isAbsorbed_;   // by expression
  std::vector<int32_t> useCount_;  // by value; a result counts once more
};

}  // namespace meshfuse
