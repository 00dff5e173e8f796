#include "meshfuse/ops/cumprod/op.h"

#include "meshfuse/ops/scan.h"

namespace meshfuse::ops::cumprod {

OpInfo info() {
  OpInfo op = scanRecord(
      "cumprod",
      "Products of the elements up to each one along a dim, in their own dtype; torch.cumprod");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    normalizeScan("cumprod", fusion, args);
  };
  op.algebra = [](const OpCall&) { return Algebra::NonLinear; };
  return op;
}

}  // namespace meshfuse::ops::cumprod
