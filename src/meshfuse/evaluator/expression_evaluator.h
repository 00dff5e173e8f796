// Evaluates values of a fusion on demand: bind some, ask for others.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Runs single operations with ATen. 4-bit floats are taken and given in heldDtype. Unknown is None, not an error: `evaluate` gives None for what cannot be computed yet.
class ExpressionEvaluator {
 public:
  explicit ExpressionEvaluator(const Fusion& fusion);

  /// Binds a value. A tensor also binds the symbols of its extents. Throws UserError: null; a constant bound to another
  /// value; wrong rank, dtype, size or kind ("Expected input 0, tv0, to be bound to a tensor of rank 2 …").
  void bind(ValId val, const PolymorphicValue& value);
  /// As `bind`, and checks a value that could already be computed: "Tried to bind to a value: …".
  void bindAndCheck(ValId val, const PolymorphicValue& value);

  /// The value, remembering intermediates.
  PolymorphicValue evaluate(ValId val);
  /// The value, computed without remembering anything new.
  PolymorphicValue evaluate(ValId val) const;
  bool isKnown(ValId val) const noexcept;
  std::optional<int64_t> evaluate(const IntExpr& expr) const;

 private:
  void bindTensor(ValId id, const at::Tensor& tensor);
  void bindScalar(ValId id, const PolymorphicValue& value);
  PolymorphicValue compute(ValId val, std::vector<PolymorphicValue>& known) const;

  const Fusion& fusion_;
  std::vector<PolymorphicValue> known_;
  std::unordered_map<uint32_t, int64_t> symbols_;
};

}  // namespace meshfuse
