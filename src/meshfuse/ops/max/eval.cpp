#include "meshfuse/evaluator/reduction_eval.h"

namespace meshfuse::ops::max {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {extremum(call, ReduceKind::Max)};
}

}  // namespace meshfuse::ops::max
