// What loops compute an operation: what the compiler has to know of it beyond its dimension map.
#pragma once

#include <cstdint>
#include <string_view>

#include "meshfuse/ir/op_descriptor.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

/// How a reduction or a scan makes one number of many.
enum class Fold : uint8_t { None, Sum, Product, Max, Min, Variance, VarianceMean, Welford };

/// What an element of the output is, where an elementwise operation is no row of pointwise.def.
enum class Body : uint8_t {
  Copy,         // the operand's element, in the output's type
  Clamp,        // … brought between two numbers
  Triangle,     // … or zero, by where it lies in its matrix
  Constant,     // a number
  Iota,         // a number that follows the position
  Uniform,      // a random number
  Normal,       // … of the other distribution
  UniformLike,  // … for each element of the operand
  NormalLike,
  Take,  // an element of the first operand, at the position along a dimension that another operand holds
  Select,     // … where a negative position counts from the end
  Embedding,  // an element of the second operand's row that the first holds
  Slice,      // an element of the operand, so far from the output's position
  Pad,        // … or a number beyond its ends
  Cat,        // an element of one of the operands, by the position
};

std::string_view nameOf(Fold fold) noexcept;  // "sum", "variance", …

struct LoopForm {
  enum class Kind : uint8_t {
    Call,         // runs as one call of a library
    Elementwise,  // an output's element comes from the operands' elements at the same factors
    Reduction,    // … from all elements along the factors that the output lacks
    Scan,         // … from the elements up to its own along the opaque factor
  };
  /// What doing it once more for an element costs, besides reading its operand.
  enum class Cost : uint8_t {
    Nothing,   // a view, or numbers of no operand: a library gives it as well as a kernel
    Little,    // a copy or a cast
    Something  // arithmetic
  };
  Kind kind = Kind::Call;
  Cost cost = Cost::Something;
  Fold fold = Fold::None;
  Body body = Body::Copy;
  /// The kernel that computes it ends with it.
  bool endsKernel = false;
  /// Dimensions may be products of several factors; which ones depends on sizes.
  bool divides = false;
  /// Results of row-major operands may lie in memory in another order.
  bool reorders = false;

  /// Whether there is no operand whose loops it could have.
  constexpr bool isFactory() const noexcept {
    return body == Body::Constant || body == Body::Iota || body == Body::Uniform ||
           body == Body::Normal;
  }

  static constexpr LoopForm call() noexcept { return {}; }
  static constexpr LoopForm elementwise(Cost cost = Cost::Something) noexcept {
    return {Kind::Elementwise, cost};
  }
  static constexpr LoopForm elementwise(Body body, Cost cost = Cost::Something) noexcept {
    return {Kind::Elementwise, cost, Fold::None, body};
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
  static constexpr LoopForm scan(Fold fold) noexcept { return {Kind::Scan, Cost::Something, fold}; }
};

/// Arithmetic of a pointwise operation in units of an addition.
int64_t workOf(const PointwiseRow& row);

/// The form of an operation: elementwise for pointwise ones, `ops/<op>/loops.cpp` for structured ones.
LoopForm loopFormOf(const OpDescriptor& op);

}  // namespace meshfuse
