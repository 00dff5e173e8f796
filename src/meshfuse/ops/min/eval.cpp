#include "meshfuse/evaluator/reduction_eval.h"

namespace meshfuse::ops::min {

std::vector<PolymorphicValue> evaluate(const EvalCall& call) {
  return {extremum(call, ReduceKind::Min)};
}

}  // namespace meshfuse::ops::min
