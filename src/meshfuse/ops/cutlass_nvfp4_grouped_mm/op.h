// cutlass_nvfp4_grouped_mm: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cutlass_nvfp4_grouped_mm {

OpInfo info();

}  // namespace meshfuse::ops::cutlass_nvfp4_grouped_mm

namespace meshfuse::lang {

/// A product of 4-bit floats a group of rows: [m, k] with [g, k, n] gives [m, n], each group's times its alpha. `scale1` and `scale2`
/// have the blocks' scales in tiles of 128 by 4: those of a group's rows from the row `sfOffsets` on, and [g, n, k / 16] in whole
/// tiles. `problemSizes` has the rows, n and k of each group, whose first rows are `expertOffsets`.
template <class Value>
Value cutlass_nvfp4_grouped_mm(const Value& mat1, const Value& mat2, const Value& scale1,
                               const Value& scale2, const Value& alpha, const Value& problemSizes,
                               const Value& expertOffsets, const Value& sfOffsets,
                               PrimType dtype = PrimType::BFloat16) {
  return mat1.call("cutlass_nvfp4_grouped_mm", mat1, mat2, scale1, scale2, alpha, problemSizes,
                   expertOffsets, sfOffsets, dtype)[0];
}

}  // namespace meshfuse::lang
