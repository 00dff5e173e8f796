// nv_grouped_block_quantize: its record, and its call from C++.
#pragma once

#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::nv_grouped_block_quantize {

OpInfo info();

}  // namespace meshfuse::ops::nv_grouped_block_quantize

namespace meshfuse::lang {

/// [m, k] in Float4_e2m1fn by blocks of 16 of a row, and the blocks' scales in Float8_e4m3fn: those of each group of rows in tiles of
/// their own. Groups begin at the rows `inputOffsets`, their tiles at the rows `outputOffsets`.
template <class Value>
std::pair<Value, Value> nv_grouped_block_quantize(const Value& input, const Value& inputOffsets,
                                                  const Value& outputOffsets) {
  const auto outputs = input.call("nv_grouped_block_quantize", input, inputOffsets, outputOffsets);
  return {outputs[0], outputs[1]};
}

}  // namespace meshfuse::lang
