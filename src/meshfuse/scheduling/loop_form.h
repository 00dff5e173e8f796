// What loops compute an operation: what the compiler has to know of it beyond its dimension map.
#pragma once

#include <cstdint>
#include <string_view>

#include "meshfuse/ir/op_descriptor.h"

namespace meshfuse {

/// How a reduction makes one number of many.
enum class Fold : uint8_t { None, Sum, Product, Max, Min, Variance, VarianceMean, Welford };

std::string_view nameOf(Fold fold) noexcept;  // "sum", "variance", …

struct LoopForm {
  enum class Kind : uint8_t {
    Call,         // runs as one call of a library
    Elementwise,  // an output's element comes from the operands' elements at the same factors
    Reduction,    // … from all elements along the factors that the output lacks
  };
  /// What doing it once more for an element costs, besides reading its operand.
  enum class Cost : uint8_t {
    Nothing,   // a view: a library gives it without touching memory
    Little,    // a copy or a cast
    Something  // arithmetic
  };
  Kind kind = Kind::Call;
  Cost cost = Cost::Something;
  Fold fold = Fold::None;
  /// The kernel that computes it ends with it.
  bool endsKernel = false;
  /// Dimensions may be products of several factors; which ones depends on sizes.
  bool divides = false;
  /// Results of row-major operands may lie in memory in another order.
  bool reorders = false;

  static constexpr LoopForm call() noexcept { return {}; }
  static constexpr LoopForm elementwise(Cost cost = Cost::Something) noexcept {
    return {Kind::Elementwise, cost};
  }
  static constexpr LoopForm view() noexcept { return elementwise(Cost::Nothing); }
  constexpr LoopForm dividing() const noexcept {
    LoopForm form = *this;
    form.divides = true;
    return form;
  }
  constexpr LoopForm reordering() const noexcept {
    LoopForm form = *this;
    form.reorders = true;
    return form;
  }
  static constexpr LoopForm reduction(Fold fold) noexcept {
    return {Kind::Reduction, Cost::Something, fold};
  }
};

/// The form of an operation: elementwise for pointwise ones, `ops/<op>/loops.cpp` for structured ones.
LoopForm loopFormOf(const OpDescriptor& op);

}  // namespace meshfuse
