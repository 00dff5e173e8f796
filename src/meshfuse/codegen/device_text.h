// The text of device/*.h that generated code carries: functions of numbers, element types, random numbers, memory access.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// The names (functions and types) that device text provides, in its order.
std::vector<std::string_view> deviceNames();

/// The device text that the named functions and types need, and no more: `namespace device { … }`, what is needed first; the
/// same bytes for the same set of names. Functions on double and on complex numbers come only with the names `double` and
/// `complex`. Each name is one of `deviceNames()` or `double`.
std::string deviceText(std::span<const std::string_view> functions);

/// `deviceText` of every name that stands in `code`, a kernel's body or one of its expressions.
std::string deviceTextFor(std::string_view code);

/// The device text's name of an element type as it lies in memory: `bfloat16`, `boolean`, `complex<float>`. Index is int64; throws
/// InternalError for Null and Float4_e2m1fn, of which memory holds no elements.
std::string_view deviceTypeName(PrimType type);

/// The type that elements are computed in: float for reduced floats, bool for `boolean`. `convert<To>(x)` goes from and to it.
std::string_view deviceComputeName(PrimType type);

}  // namespace meshfuse
