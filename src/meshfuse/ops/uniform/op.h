// uniform: its record, and its call from C++.
#pragma once

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::uniform {

OpInfo info();

}  // namespace meshfuse::ops::uniform

namespace meshfuse::lang {

/// Uniformly distributed numbers from minval up to but without maxval; torch.Tensor.uniform_
template <class Definition>
auto uniform(Definition& definition, double minval, double maxval, const Ints& shape,
             PrimType dtype = PrimType::Float) {
  return definition.call("uniform",
                         std::vector<Arg>{Scalar(minval), Scalar(maxval), shape, {}, {}, dtype})[0];
}

}  // namespace meshfuse::lang
