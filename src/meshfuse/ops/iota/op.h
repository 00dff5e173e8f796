// iota: its record, and its call from C++.
#pragma once

#include <optional>

#include "meshfuse/ops/op_info.h"

namespace meshfuse::ops::iota {

OpInfo info();

/// Refuses numbers that are not finite, and a step of zero, as far as they are known; UserError(Runtime).
void checkNumbers(const std::optional<Scalar>& start, const std::optional<Scalar>& step);

}  // namespace meshfuse::ops::iota

namespace meshfuse::lang {

/// `length` numbers from `start` by `step`; torch.arange.
template <class Definition>
auto iota(Definition& definition, int64_t length, Scalar start = Scalar(0), Scalar step = Scalar(1),
          PrimType dtype = PrimType::Int) {
  return definition.call("iota", std::vector<Arg>{Scalar(length), start, step, dtype})[0];
}

}  // namespace meshfuse::lang
