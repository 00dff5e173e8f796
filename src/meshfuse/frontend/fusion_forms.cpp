#include "meshfuse/frontend/fusion_forms.h"

#include <utility>
#include <vector>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {
namespace {

using TypeMap = PrimType (*)(PrimType);

PrimType same(PrimType type) { return type; }

/// Packed elements stay what they are: their tensors have other sizes.
PrimType doubled(PrimType type) {
  if (type == PrimType::Float4_e2m1fn) {
    return type;
  }
  switch (categoryOf(type)) {
    case TypeCategory::Floating:
      return PrimType::Double;
    case TypeCategory::Complex:
      return PrimType::ComplexDouble;
    default:
      return type;
  }
}

void addInput(Fusion& copy, const Val& val, TypeMap map) {
  if (!val.isTensor()) {
    copy.addInputScalar(map(val.dtype()));
    return;
  }
  const TensorType& type = val.tensor();
  std::vector<int64_t> shape;
  for (const IterDomain& domain : type.domain) {
    shape.push_back(domain.extent.asConstant().value_or(-1));
  }
  copy.addInputTensor(map(type.dtype), shape, type.contiguity, type.strideOrder, type.isCpuScalar);
}

void addMappedCall(Fusion& copy, const Expr& expr, TypeMap map) {
  std::vector<Arg> args = expr.args;
  for (Arg& arg : args) {
    if (PrimType* type = std::get_if<PrimType>(&arg)) {
      *type = map(*type);
    }
  }
  const std::vector<ValId> outputs = addCall(copy, infoOf(*expr.op), std::move(args));
  internalCheck(outputs == expr.outputs, "a copy of a fusion keeps the ids of its values");
}

/// Inputs, constants and calls.
Fusion copyOfValues(const Fusion& fusion, TypeMap map) {
  Fusion copy;
  for (uint32_t i = 0; i < fusion.vals().size(); ++i) {
    const ValId id{i};
    const Val& val = fusion.val(id);
    if (val.definition != kNoExpr) {
      const Expr& expr = fusion.expr(val.definition);
      if (expr.outputs.front() == id) {
        addMappedCall(copy, expr, map);
      }
    } else if (fusion.isInput(id)) {
      addInput(copy, val, map);
    } else {
      copy.addScalar(map(val.dtype()), val.scalar().constant);
    }
  }
  return copy;
}

}  // namespace

Fusion inDouble(const Fusion& fusion) {
  Fusion copy = copyOfValues(fusion, doubled);
  forEachResult(
      fusion, [&](ValId output) { copy.addOutput(output); },
      [&](const InputWrite& write) { copy.addWrite(write.value, write.input); });
  return copy;
}

Fusion withoutWrites(const Fusion& fusion) {
  Fusion copy = copyOfValues(fusion, same);
  for (ValId output : fusion.outputs()) {
    copy.addOutput(output);
  }
  for (const InputWrite& write : fusion.writes()) {
    copy.addOutput(write.value);
  }
  return copy;
}

}  // namespace meshfuse
