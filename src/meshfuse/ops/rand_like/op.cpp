#include "meshfuse/ops/rand_like/op.h"

#include "meshfuse/ops/random.h"

namespace meshfuse::ops::rand_like {

OpInfo info() {
  return randomLikeOp("rand_like",
                      "Numbers from 0 up to but without 1, of the size and element type of the "
                      "operand; torch.rand_like");
}

}  // namespace meshfuse::ops::rand_like
