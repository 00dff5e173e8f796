// Whether strided tensors share memory.
#pragma once

#include <c10/core/TensorImpl.h>

namespace meshfuse {

/// Whether two elements of one tensor lie at one address.
bool overlapsItself(c10::IntArrayRef sizes, c10::IntArrayRef strides);

/// Whether an element of one lies, in whole or in part, where one of the other does. Exact for the layouts that slices,
/// permutations and expansions make; where finding out would take too long, it counts as sharing. Tensors without memory share
/// none.
bool shareMemory(const c10::TensorImpl& a, const c10::TensorImpl& b);

/// A cheap necessary condition: the stretches of memory from the first to the last element meet.
bool mayShareMemory(const c10::TensorImpl& a, const c10::TensorImpl& b);

}  // namespace meshfuse
