// preprocess_grouped_matmul_input_sf: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::preprocess_grouped_matmul_input_sf {

OpInfo info();

}  // namespace meshfuse::ops::preprocess_grouped_matmul_input_sf

namespace meshfuse::lang {

/// The scales [m, k / 16] of each group of rows in tiles of 128 by 4 of their own. Groups begin at the rows `inputOffsets`, their
/// tiles at the rows `outputOffsets`.
template <class Value>
Value preprocess_grouped_matmul_input_sf(const Value& input, const Value& inputOffsets,
                                         const Value& outputOffsets) {
  return input.call("preprocess_grouped_matmul_input_sf", input, inputOffsets, outputOffsets)[0];
}

}  // namespace meshfuse::lang
