// normal: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::normal {

OpInfo info();

}  // namespace meshfuse::ops::normal

namespace meshfuse::lang {

/// Normally distributed numbers; torch.normal
template <class Definition>
auto normal(Definition& definition, double mean, double std, const Ints& shape,
            PrimType dtype = PrimType::Float) {
  return definition.call("normal",
                         std::vector<Arg>{Scalar(mean), Scalar(std), shape, {}, {}, dtype})[0];
}

}  // namespace meshfuse::lang
