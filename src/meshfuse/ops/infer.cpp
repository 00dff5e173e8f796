#include "meshfuse/ops/infer.h"

namespace meshfuse {

std::vector<TensorType> tensorOperands(const Fusion& fusion, std::span<const Arg> args) {
  std::vector<TensorType> tensors;
  for (const Arg& arg : args) {
    const ValId* val = std::get_if<ValId>(&arg);
    if (val != nullptr && fusion.val(*val).isTensor()) {
      tensors.push_back(fusion.val(*val).tensor());
    }
  }
  return tensors;
}

std::vector<TensorType> inferOutputs(const Fusion& fusion, const OpInfo& op, std::span<const Arg> args) {
  const std::vector<TensorType> tensors = tensorOperands(fusion, args);
  const OpCall call{&op, &fusion, args, tensors};
  const std::vector<PrimType> dtypes = op.dtypes(call);
  std::vector<std::vector<IterDomain>> domains = outputDomains(op.dimMap(call));
  std::vector<TensorType> types(domains.size());
  for (size_t i = 0; i < domains.size(); ++i) {
    types[i].dtype = dtypes[i];
    types[i].domain = std::move(domains[i]);
  }
  return types;
}

DimMap dimMapOf(const Fusion& fusion, const Expr& expr) {
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  return op.dimMap({&op, &fusion, expr.args, tensors});
}

}  // namespace meshfuse
