#include "meshfuse/ops/cumsum/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/scan.h"

namespace meshfuse::ops::cumsum {

OpInfo info() {
  OpInfo op = scanRecord(
      "cumsum",
      "Sums of the elements up to each one along a dim, in their own dtype; torch.cumsum");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeScan("cumsum", fusion, args);
  };
  // A number to start from is added once.
  op.algebra = [](const OpCall& call) {
    return isGiven(call.args[2]) ? Algebra::NonLinear : Algebra::Linear;
  };
  return op;
}

}  // namespace meshfuse::ops::cumsum
