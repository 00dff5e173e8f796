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

/// The same with the rows and columns of each product multiplied by `scale1`, [m, 1] or [g, m, 1], and `scale2`, [1, n] or
/// [g, 1, n]: groups are in front where the matrix or the result has them. torch._scaled_grouped_mm.
template <class Value>
Value grouped_mm(const Value& mat1, const Value& mat2, const Value& offsets, const Value& scale1,
                 const Value& scale2, PrimType dtype = PrimType::BFloat16) {
  return mat1.call("grouped_mm", mat1, mat2, offsets, scale1, scale2, Arg(), Arg(), Arg(),
                   dtype)[0];
}

}  // namespace meshfuse::lang
