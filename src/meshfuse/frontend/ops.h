// The operations of the language as C++ functions: meshfuse::lang::<name>, named as in Python.
//
// The elementwise ones come from pointwise.def, the others from their folders' op.h: a new operation has its function without
// an edit here. Every call goes to the definition its operands belong to. Calls are defined in the order they are evaluated, which C++
// leaves open for calls nested in one expression: name intermediate values where builds by several compilers must agree.
#pragma once

#include "meshfuse/frontend/fusion_definition.h"
#include "meshfuse/ops/structured_ops.h"

namespace meshfuse::lang {

/// An operand of an elementwise operation: a value of the definition or a number.
class Operand {
 public:
  // Both are implicit, so that calls read `add(x, 1.0)`.
  Operand(const ValueHandle& value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  /// A number; a bool means an integer, as it does in Python.
  template <class T>
    requires std::is_constructible_v<Scalar, T>
  Operand(T number)  // NOLINT(google-explicit-constructor)
      : number_(std::is_same_v<T, bool> ? Scalar(static_cast<int64_t>(Scalar(number).toBool()))
                                        : Scalar(number)) {}

  const std::optional<ValueHandle>& value() const noexcept { return value_; }
  const Scalar& number() const noexcept { return number_; }

 private:
  std::optional<ValueHandle> value_;
  Scalar number_;
};

/// Appends an elementwise call to the operands' definition. Throws UserError(Type) where all operands are numbers.
ValueHandle callPointwise(std::string_view op, std::initializer_list<Operand> operands);

#define MESHFUSE_LANG_PARAMS_1 const Operand& x0
#define MESHFUSE_LANG_PARAMS_2 const Operand &x0, const Operand &x1
#define MESHFUSE_LANG_PARAMS_3 const Operand &x0, const Operand &x1, const Operand &x2
#define MESHFUSE_LANG_PARAMS_4 \
  const Operand &x0, const Operand &x1, const Operand &x2, const Operand &x3
#define MESHFUSE_LANG_ARGS_1 x0
#define MESHFUSE_LANG_ARGS_2 x0, x1
#define MESHFUSE_LANG_ARGS_3 x0, x1, x2
#define MESHFUSE_LANG_ARGS_4 x0, x1, x2, x3
#define MESHFUSE_POINTWISE(name, arity, types, algebra, sample, aten, device, doc) \
  inline ValueHandle name(MESHFUSE_LANG_PARAMS_##arity) {                          \
    return callPointwise(#name, {MESHFUSE_LANG_ARGS_##arity});                     \
  }
#include "meshfuse/ops/pointwise.def"
#undef MESHFUSE_POINTWISE
#undef MESHFUSE_LANG_ARGS_4
#undef MESHFUSE_LANG_ARGS_3
#undef MESHFUSE_LANG_ARGS_2
#undef MESHFUSE_LANG_ARGS_1
#undef MESHFUSE_LANG_PARAMS_4
#undef MESHFUSE_LANG_PARAMS_3
#undef MESHFUSE_LANG_PARAMS_2
#undef MESHFUSE_LANG_PARAMS_1

}  // namespace meshfuse::lang
