// Values as the bytes a kernel reads its arguments from.
#pragma once

#include <cstddef>
#include <vector>

#include "meshfuse/types/data_type.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// The bytes of one argument, as `type` says it is stored. `indexType` (Int or Int32) is the width of Index values and of a
/// tensor's sizes and strides.
///
/// Integers take the width of their type, floating-point numbers are rounded to theirs, bool is one byte, a complex number is its
/// two parts, a pointer 8 bytes; arrays are their elements in order; structs are their fields in order, those that no kernel uses
/// left out; opaque values are their bytes in memory. A zero-dimensional CPU tensor of the type is its one element. Any other
/// tensor is its data address, sizes and strides: the global ones for a distributed tensor; in units of elements, except that a
/// packed type counts single elements (the last size and all strides but the last are scaled).
/// Throws UserError(Type) naming both for other combinations.
std::vector<std::byte> argumentBytes(const PolymorphicValue& value, const DataType& type,
                                     PrimType indexType);

}  // namespace meshfuse
