// From values to tensors, scalars and torch's generic values, and back.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/Scalar.h>

#include "meshfuse/types/scalar.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Whether a Bool, Int, Double or Complex is held.
bool isScalar(const PolymorphicValue& value) noexcept;
/// The held number; throws UserError(Type) for other kinds.
Scalar toScalar(const PolymorphicValue& value);
/// The held number as torch's; throws UserError(Type) for other kinds.
at::Scalar toAtenScalar(const PolymorphicValue& value);

/// A tensor is itself, a number becomes a 0-d tensor (int64, float64, bool, complex128) on `device`, a vector is the stack of its
/// elements. Throws UserError(Type) for other kinds; a distributed tensor is refused because its local part is not its value.
at::Tensor toTensor(const PolymorphicValue& value, c10::Device device = c10::kCPU);

/// torch's generic value. Numbers and tensors are torch's own; a vector is a list of Any; a distributed tensor, pointer, opaque
/// value and struct are a capsule that carries the value itself, so `IValueToPolymorphicValue` gives back an equal one.
c10::IValue toIValue(const PolymorphicValue& value);
c10::IValue toIValue(PolymorphicValue&& value);

/// The value of torch's generic value: numbers, tensors (undefined is None), None, any list or tuple (a vector), and what
/// `toIValue` made. Throws UserError(Type) naming the tag for anything else.
PolymorphicValue IValueToPolymorphicValue(const c10::IValue& value);
PolymorphicValue IValueToPolymorphicValue(c10::IValue&& value);

}  // namespace meshfuse
