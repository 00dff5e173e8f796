// The data type of a value, whether a value fits a data type, and casting to one.
#pragma once

#include "meshfuse/types/data_type.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// Bool, Int, Double, ComplexDouble; a tensor's element type; a vector's element type and length; a struct's, pointer's and
/// opaque value's own type. Throws UserError(Type) for None, an empty vector and a vector of mixed types.
DataType dataTypeOf(const PolymorphicValue& value);

/// Whether a value can stand where `type` is wanted: same category for numbers, same element type for tensors, same length and
/// fitting elements for arrays (none for length 0), fields for structs, element width for pointers.
bool fits(const PolymorphicValue& value, const DataType& type);

/// The value in the kind that `type` stands for: numbers converted as Scalar::castTo does, tensors converted to the dtype,
/// vectors element by element. Structs, pointers and opaque values must already fit. Throws UserError(Type) with
/// "not compatible" for what cannot become the type, and for a partial distributed tensor that would change type.
PolymorphicValue castToDtype(const PolymorphicValue& value, const DataType& type);

}  // namespace meshfuse
