#include "meshfuse/ops/concretize.h"

#include <unordered_map>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/ops/infer.h"

namespace meshfuse {

namespace {

using SymbolValues = std::unordered_map<uint32_t, int64_t>;

void bindTensor(Fusion& fusion, ValId id, const InputShape& input, SymbolValues& symbols) {
  TensorType& type = fusion.val(id).tensor();
  internalCheck(input.sizes.size() == type.domain.size(),
                "an input's sizes have the rank of its type");
  for (size_t dim = 0; dim < type.domain.size(); ++dim) {
    IterDomain& domain = type.domain[dim];
    const int64_t size = input.sizes[dim];
    for (SymbolId symbol : domain.extent.symbols()) {
      symbols.emplace(indexOf(symbol), size);
    }
    if (const std::optional<int64_t> extent = domain.extent.asConstant();
        extent && *extent != size) {
      throwUser(ErrorKind::Runtime, {"execute", "an input has the sizes that the definition states",
                                     fusion.nameOf(id) + " is " + toText(type) + " but got sizes " +
                                         toText(std::span<const int64_t>(input.sizes)),
                                     "pass that size, or define the dimension as -1"});
    }
    domain.extent = size;
  }
}

void inferExpr(Fusion& fusion, const Expr& expr) {
  const OpInfo& op = infoOf(*expr.op);
  if (!fusion.val(expr.outputs.front()).isTensor()) {
    return;
  }
  std::vector<TensorType> types = inferOutputs(fusion, op, expr.args);
  for (size_t i = 0; i < types.size(); ++i) {
    fusion.val(expr.outputs[i]).tensor() = std::move(types[i]);
  }
}

}  // namespace

Fusion concretize(const Fusion& fusion, std::span<const InputShape> inputs) {
  internalCheck(inputs.size() == fusion.inputs().size(), "there is one shape an input");
  Fusion concrete = fusion;
  SymbolValues symbols;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValId id = fusion.inputs()[i];
    if (fusion.val(id).isTensor()) {
      bindTensor(concrete, id, inputs[i], symbols);
    }
  }
  for (const Expr& expr : concrete.exprs()) {
    inferExpr(concrete, expr);
  }
  return concrete;
}

}  // namespace meshfuse
