// triu: its record, and its call from C++.
#pragma once

#include <cstdint>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::triu {

OpInfo info();

}  // namespace meshfuse::ops::triu

namespace meshfuse::lang {

/// The upper triangles of the matrices in the last two dims, from `diagonal` on, zero below; torch.triu.
template <class Value>
Value triu(const Value& arg, int64_t diagonal = 0) {
  return arg.call("triu", arg, diagonal)[0];
}

}  // namespace meshfuse::lang
