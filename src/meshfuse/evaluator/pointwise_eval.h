// Evaluation of the rows of pointwise.def.
#pragma once

#include <vector>

#include "meshfuse/evaluator/op_evaluation.h"

namespace meshfuse {

/// Casts the operands to the compute type, applies the row's ATen column, casts to the result type.
std::vector<PolymorphicValue> evaluatePointwise(const EvalCall& call);

/// What the evaluator computes in where a row computes in `compute`. ATen has few functions of floats of 8 bits and less and of
/// UInt64: Float holds all values of the former, Int the bits of the latter, which are all that rows on it look at.
at::ScalarType calculationType(PrimType compute);

/// Refuses a number, named `operand`, that Int32 does not hold where `op` compares or counts in it; other values are fine.
void checkFitsInt32(std::string_view op, const std::string& operand, const PolymorphicValue& value);

}  // namespace meshfuse
