#include "meshfuse/ops/randn_like/op.h"

#include "meshfuse/ops/random.h"

namespace meshfuse::ops::randn_like {

OpInfo info() {
  return randomLikeOp(
      "randn_like",
      "Normally distributed numbers of the size and element type of the operand; torch.randn_like");
}

}  // namespace meshfuse::ops::randn_like
