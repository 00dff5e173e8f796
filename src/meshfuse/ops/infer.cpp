#include "meshfuse/ops/infer.h"

#include "meshfuse/ops/packed_types.h"

namespace meshfuse {

std::vector<TensorType> tensorOperands(const Fusion& fusion, std::span<const Arg> args) {
  std::vector<TensorType> tensors;
  for (const Arg& arg : args) {
    forEachVal(arg, [&](ValId val) {
      if (fusion.val(val).isTensor()) {
        tensors.push_back(fusion.val(val).tensor());
      }
    });
  }
  return tensors;
}

DimMap dimMapOf(const Fusion& fusion, const Expr& expr) {
  const OpInfo& op = infoOf(*expr.op);
  const std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  return op.dimMap({&op, &fusion, expr.args, tensors});
}

std::vector<TensorType> inferOutputs(const Fusion& fusion, const OpInfo& op,
                                     std::span<const Arg> args) {
  const std::vector<TensorType> tensors = tensorOperands(fusion, args);
  const OpCall call{&op, &fusion, args, tensors};
  const std::vector<PrimType> dtypes = op.dtypes(call);
  checkPackedResults(call, dtypes);
  std::vector<std::vector<IterDomain>> domains = outputDomains(op.dimMap(call));
  std::vector<TensorType> types(domains.size());
  for (size_t i = 0; i < domains.size(); ++i) {
    types[i].dtype = dtypes[i];
    types[i].domain = std::move(domains[i]);
  }
  return types;
}

std::vector<std::vector<int64_t>> inferSizes(const Fusion& fusion, const Expr& expr,
                                             std::span<const std::vector<int64_t>> operandSizes) {
  const OpInfo& op = infoOf(*expr.op);
  std::vector<TensorType> tensors = tensorOperands(fusion, expr.args);
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t dim = 0; dim < tensors[i].domain.size(); ++dim) {
      tensors[i].domain[dim].extent = operandSizes[i][dim];
    }
  }
  std::vector<std::vector<int64_t>> sizes;
  for (const std::vector<IterDomain>& domain :
       outputDomains(op.dimMap({&op, &fusion, expr.args, tensors}))) {
    std::vector<int64_t>& output = sizes.emplace_back();
    for (const IterDomain& dim : domain) {
      output.push_back(dim.extent.constant());
    }
  }
  return sizes;
}

}  // namespace meshfuse
