// nv_block_quantize: its record, and its call from C++.
#pragma once

#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::nv_block_quantize {

OpInfo info();

}  // namespace meshfuse::ops::nv_block_quantize

namespace meshfuse::lang {

/// `input` in Float8_e4m3fn, and the power of two that each block of 32 elements of the last dimension was divided by, in
/// Float8_e8m0fnu: the MX formats of the Open Compute Project.
template <class Value>
std::pair<Value, Value> nv_block_quantize(const Value& input) {
  const auto outputs =
      input.call("nv_block_quantize", input, Arg(), false, 32, PrimType::Float8_e4m3fn);
  return {outputs[0], outputs[1]};
}

}  // namespace meshfuse::lang
