#include "meshfuse/ops/uniform/op.h"

#include "meshfuse/ops/random.h"

namespace meshfuse::ops::uniform {

OpInfo info() {
  return distributionOp(
      "uniform", "minval", "maxval",
      "Uniformly distributed numbers from minval up to but without maxval; torch.Tensor.uniform_");
}

}  // namespace meshfuse::ops::uniform
