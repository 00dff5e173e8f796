#include "meshfuse/ops/reshard.h"

namespace meshfuse {

const OpDescriptor& reshardOp() {
  static const OpDescriptor op{
      "reshard",
      {{"tensor", ParamKind::Tensor}, {"axis", ParamKind::Int}},
      {},
      1,
  };
  return op;
}

}  // namespace meshfuse
