// grouped_mm: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::grouped_mm {

OpInfo info();

}  // namespace meshfuse::ops::grouped_mm

namespace meshfuse::lang {

/// One matrix product a group, groups ending at `offsets` of the dimension they divide: [m, k] x [k, n] gives [g, m, n],
/// [g, m, k] x [k, n] and [m, k] x [g, k, n] give [m, n]. torch.nn.functional.grouped_mm.
template <class Value>
Value grouped_mm(const Value& mat1, const Value& mat2, const Value& offsets) {
  return mat1.call("grouped_mm", mat1, mat2, offsets)[0];
}

}  // namespace meshfuse::lang
