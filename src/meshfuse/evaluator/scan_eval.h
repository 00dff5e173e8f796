// What the evaluations of scans share.
#pragma once

#include <ATen/core/Tensor.h>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse {

/// A call (arg, dim, init) of a scan: `scan` over arg, or over init and arg where init is given, without the result for init
/// alone.
at::Tensor scanFrom(const EvalCall& call, at::Tensor (*scan)(const at::Tensor& arg, int64_t dim));

/// Refuses a start that the type of the elements does not hold, for scans that compare: sums and products wrap as elements do.
void checkFitsType(const EvalCall& call);

}  // namespace meshfuse
