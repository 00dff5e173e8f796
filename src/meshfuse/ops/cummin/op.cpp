#include "meshfuse/ops/cummin/op.h"

#include "meshfuse/ops/arguments.h"
#include "meshfuse/ops/scan.h"

namespace meshfuse::ops::cummin {

OpInfo info() {
  OpInfo op = scanRecord("cummin",
                         "Smallest of the elements up to each one along a dim, NaN from the first "
                         "one on; values of torch.cummin");
  op.normalize = [](const Fusion& fusion, std::vector<Arg>& args) {
    checkOrdered("cummin", fusion, args[0]);
    normalizeScan("cummin", fusion, args);
  };
  op.algebra = [](const OpCall&) { return Algebra::MinReduction; };
  return op;
}

}  // namespace meshfuse::ops::cummin
