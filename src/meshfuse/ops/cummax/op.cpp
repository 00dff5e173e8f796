#include "meshfuse/ops/cummax/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/scan.h"

namespace meshfuse::ops::cummax {

OpInfo info() {
  OpInfo op = scanRecord("cummax",
                         "Largest of the elements up to each one along a dim, NaN from the first "
                         "one on; values of torch.cummax");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    checkOrdered("cummax", fusion, args[0]);
    normalizeScan("cummax", fusion, args);
  };
  op.algebra = [](const OpCall&) { return Algebra::MaxReduction; };
  return op;
}

}  // namespace meshfuse::ops::cummax
