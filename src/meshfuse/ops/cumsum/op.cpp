#include "meshfuse/ops/cumsum/op.h"

#include "meshfuse/ops/scan.h"

namespace meshfuse::ops::cumsum {

OpInfo info() {
  OpInfo op = scanRecord(
      "cumsum",
      "Sums of the elements up to each one along a dim, in their own dtype; torch.cumsum");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeScan("cumsum", fusion, args);
  };
  op.algebra = [](const OpCall&) { return Algebra::Linear; };
  return op;
}

}  // namespace meshfuse::ops::cumsum
