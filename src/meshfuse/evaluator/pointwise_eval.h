// Evaluation of the rows of pointwise.def.
#pragma once

#include <vector>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse {

/// Casts the operands to the compute type, applies the row's ATen column, casts to the result type.
std::vector<PolymorphicValue> evaluatePointwise(const EvalCall& call);

}  // namespace meshfuse
