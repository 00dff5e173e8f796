// cat: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::cat {

OpInfo info();

}  // namespace meshfuse::ops::cat

namespace meshfuse::lang {

/// The tensors one after the other along `dim`; torch.cat.
template <class Value>
Value cat(const std::vector<Value>& tensors, int64_t dim = 0) {
  return tensors.at(0).call("cat", tensors, dim)[0];
}

}  // namespace meshfuse::lang
