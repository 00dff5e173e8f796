// nv_block_quantize: its record, and its call from C++.
#pragma once

#include <utility>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::nv_block_quantize {

OpInfo info();

}  // namespace meshfuse::ops::nv_block_quantize

namespace meshfuse::lang {

/// `input` in blocks of the last dimension, each divided by a scale of its own, and the scales: in Float4_e2m1fn blocks of 16 with
/// scales in Float8_e4m3fn (NVFP4), in Float8_e4m3fn blocks of 32 with powers of two in Float8_e8m0fnu (MX).
template <class Value>
std::pair<Value, Value> nv_block_quantize(const Value& input,
                                          PrimType dtype = PrimType::Float8_e4m3fn) {
  const int64_t block = dtype == PrimType::Float4_e2m1fn ? 16 : 32;
  const auto outputs = input.call("nv_block_quantize", input, Arg(), false, block, dtype);
  return {outputs[0], outputs[1]};
}

}  // namespace meshfuse::lang
