#include "meshfuse/ops/normal/op.h"

#include "meshfuse/ops/random.h"

namespace meshfuse::ops::normal {

OpInfo info() {
  return distributionOp("normal", "mean", "std", "Normally distributed numbers; torch.normal");
}

}  // namespace meshfuse::ops::normal
