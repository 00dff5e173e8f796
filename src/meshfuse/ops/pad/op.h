// pad: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::pad {

OpInfo info();

}  // namespace meshfuse::ops::pad

namespace meshfuse::lang {

/// `value` added in front of and behind the last dimensions; widths as torch.nn.functional.pad takes them.
template <class Value>
Value pad(const Value& arg, const Ints& padWidths, const Arg& value = {}) {
  return arg.call("pad", arg, padWidths, value)[0];
}

}  // namespace meshfuse::lang
