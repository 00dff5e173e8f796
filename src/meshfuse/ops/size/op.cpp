#include "meshfuse/ops/size/op.h"

#include "meshfuse/ops/arguments.h"

namespace meshfuse::ops::size {

namespace {

void normalize(const Fusion& fusion, std::vector<Arg>& args) {
  args[1] = Scalar(wrapDim("size", intArg(args[1]), tensorArg(fusion, args[0]).rank()));
}

IntExpr extent(const OpCall& call) {
  return call.tensors[0].domain[static_cast<size_t>(intArg(call.args[1]))].extent;
}

}  // namespace

OpInfo info() {
  OpInfo op;
  op.name = "size";
  op.params = {{"arg", ParamKind::Tensor}, {"dim", ParamKind::Int}};
  op.overloads = {{op.params}};
  op.doc = "The size of a dimension, the whole tensor's, as an integer scalar; torch.Tensor.size";
  op.normalize = normalize;
  op.extent = extent;
  return op;
}

}  // namespace meshfuse::ops::size
