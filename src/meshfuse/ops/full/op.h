// full: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::full {

OpInfo info();

/// Refuses a number that the integer type cannot hold; UserError(Runtime).
void checkFits(const Scalar& number, PrimType dtype);

}  // namespace meshfuse::ops::full

namespace meshfuse::lang {

/// A tensor of `shape` filled with `value`; torch.full.
template <class Definition, class Number>
auto full(Definition& definition, const Ints& shape, Number value, PrimType dtype) {
  return definition.call("full", std::vector<Arg>{shape, Scalar(value), dtype})[0];
}

}  // namespace meshfuse::lang
