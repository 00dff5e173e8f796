// scaled_mm: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::scaled_mm {

OpInfo info();

}  // namespace meshfuse::ops::scaled_mm

namespace meshfuse::lang {

/// (mat1 scale1)(mat2 scale2) of [m, k] and [k, n] in `dtype`: a scale has no dimension, or two that divide its matrix's, one
/// number for each block. torch._scaled_mm.
template <class Value>
Value scaled_mm(const Value& mat1, const Value& mat2, const Value& scale1, const Value& scale2,
                PrimType dtype = PrimType::BFloat16) {
  return mat1.call("scaled_mm", mat1, mat2, scale1, scale2, Arg(), Arg(), Arg(), dtype)[0];
}

}  // namespace meshfuse::lang
