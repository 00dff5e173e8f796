#include "meshfuse/evaluator/expression_evaluator.h"

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/evaluator/op_evaluation.h"
#include "meshfuse/evaluator/random_numbers.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/packed_floats.h"
#include "meshfuse/values/torch_types.h"
#include "meshfuse/values/value_print.h"
#include "meshfuse/values/value_types.h"

namespace meshfuse {

namespace {

[[noreturn]] void refuse(const Fusion& fusion, ValId val, std::string_view rule,
                         const std::string& found) {
  throwUser(ErrorKind::Runtime, {"evaluate", rule, fusion.nameOf(val) + " got " + found,
                                 "bind a value that fits the definition"});
}

void checkTensor(const Fusion& fusion, ValId id, const at::Tensor& tensor) {
  const TensorType& type = fusion.val(id).tensor();
  const bool isIndex = type.dtype == PrimType::Index &&
                       (tensor.scalar_type() == at::kInt || tensor.scalar_type() == at::kLong);
  const bool isHeld = type.dtype == PrimType::Float4_e2m1fn &&
                      tensor.scalar_type() == heldDtype(PrimType::Float4_e2m1fn);
  if (!isIndex && !isHeld && findPrimTypeOf(tensor.scalar_type()) != type.dtype) {
    refuse(fusion, id,
           "Expected to be bound to a tensor of dtype " + std::string(internalNameOf(type.dtype)),
           "a tensor of dtype " + std::string(c10::toString(tensor.scalar_type())));
  }
  if (tensor.dim() != type.rank()) {
    refuse(fusion, id, "Expected to be bound to a tensor of rank " + std::to_string(type.rank()),
           "a tensor of rank " + std::to_string(tensor.dim()));
  }
}

void checkDimension(const Fusion& fusion, ValId id, const at::Tensor& tensor, int64_t dim) {
  const IterDomain& domain = fusion.val(id).tensor().domain[static_cast<size_t>(dim)];
  const std::optional<int64_t> extent = domain.extent.asConstant();
  if (extent && *extent != tensor.size(dim)) {
    refuse(fusion, id,
           "Expected size " + std::to_string(*extent) + " in dimension " + std::to_string(dim),
           "size " + std::to_string(tensor.size(dim)));
  }
  if (domain.isExpanded() && tensor.size(dim) != 1 && tensor.stride(dim) != 0) {
    refuse(fusion, id, "an expanded dimension has stride 0 or size 1",
           "stride " + std::to_string(tensor.stride(dim)) + " in dimension " + std::to_string(dim));
  }
}

Ints intsOf(std::span<const PolymorphicValue> list) {
  Ints ints;
  for (const PolymorphicValue& value : list) {
    ints.push_back(toScalar(value).toInt());
  }
  return ints;
}

bool isIntegralValue(const PolymorphicValue& value) {
  return value.is<int64_t>() || value.is<bool>();
}

}  // namespace

ExpressionEvaluator::ExpressionEvaluator(const Fusion& fusion)
    : fusion_(fusion), known_(fusion.vals().size()) {}

bool ExpressionEvaluator::isKnown(ValId val) const noexcept {
  return indexOf(val) < known_.size() && known_[indexOf(val)].hasValue();
}

void ExpressionEvaluator::bindTensor(ValId id, const at::Tensor& tensor) {
  checkTensor(fusion_, id, tensor);
  const TensorType& type = fusion_.val(id).tensor();
  for (int64_t dim = 0; dim < type.rank(); ++dim) {
    checkDimension(fusion_, id, tensor, dim);
    for (SymbolId symbol : type.domain[static_cast<size_t>(dim)].extent.symbols()) {
      symbols_[indexOf(symbol)] = tensor.size(dim);
    }
  }
}

void ExpressionEvaluator::bindScalar(ValId id, const PolymorphicValue& value) {
  const ScalarType& type = fusion_.val(id).scalar();
  if (!isScalar(value)) {
    refuse(fusion_, id,
           "Expected to be bound to a scalar of type " + std::string(nameOf(type.dtype)),
           toText(value));
  }
  if (type.constant && !isSame(castToDtype(PolymorphicValue(*type.constant), type.dtype),
                               castToDtype(value, type.dtype))) {
    refuse(fusion_, id, "a constant is bound to its own value only",
           toText(value) + " for the constant " + type.constant->toText());
  }
  if (type.symbol && isIntegralValue(value)) {
    symbols_[indexOf(*type.symbol)] = toScalar(value).toInt();
  }
}

void ExpressionEvaluator::bind(ValId val, const PolymorphicValue& value) {
  if (value.isNull()) {
    refuse(fusion_, val, "a value is bound to something", "None");
  }
  if (!fusion_.val(val).isTensor()) {
    bindScalar(val, value);
  } else if (value.is<at::Tensor>()) {
    bindTensor(val, value.asTensor());
  } else {
    refuse(fusion_, val, "Expected to be bound to a tensor", toText(value));
  }
  known_.resize(fusion_.vals().size());  // the fusion may have grown
  known_[indexOf(val)] = value;
}

void ExpressionEvaluator::bindAndCheck(ValId val, const PolymorphicValue& value) {
  const PolymorphicValue computed = std::as_const(*this).evaluate(val);
  if (computed.hasValue() && !isSameNanSensitive(computed, value)) {
    throwUser(ErrorKind::Runtime,
              {"evaluate", "Tried to bind to a value: " + fusion_.nameOf(val),
               "already computed as " + toText(computed) + ", bound to " + toText(value),
               "bind the value that follows from the others"});
  }
  bind(val, value);
}

std::optional<int64_t> ExpressionEvaluator::evaluate(const IntExpr& expr) const {
  return expr.evaluate([this](SymbolId symbol) -> std::optional<int64_t> {
    const auto found = symbols_.find(indexOf(symbol));
    return found == symbols_.end() ? std::nullopt : std::optional(found->second);
  });
}

/// Computes `val` with what `known` holds, adding what it computes on the way.
PolymorphicValue ExpressionEvaluator::compute(ValId val,
                                              std::vector<PolymorphicValue>& known) const {
  PolymorphicValue& slot = known[indexOf(val)];
  const Val& definition = fusion_.val(val);
  if (slot.hasValue()) {
    return slot;
  }
  if (!definition.isTensor() && definition.scalar().constant) {
    return {*definition.scalar().constant};
  }
  if (definition.definition == kNoExpr) {
    return {};
  }
  Expr expr = fusion_.expr(definition.definition);
  std::vector<PolymorphicValue> operands;
  std::vector<std::vector<int64_t>> operandSizes;
  const auto use = [&](ValId id) {
    PolymorphicValue operand = compute(id, known);
    if (operand.is<at::Tensor>()) {
      operandSizes.push_back(operand.asTensor().sizes().vec());
    }
    return operand;
  };
  for (size_t i = 0; i < expr.args.size(); ++i) {
    PolymorphicValue& operand = operands.emplace_back();
    Arg& arg = expr.args[i];
    if (const Scalar* number = std::get_if<Scalar>(&arg)) {
      operand = *number;
    } else if (const ValId* id = std::get_if<ValId>(&arg)) {
      operand = use(*id);
      if (operand.isNull()) {
        return {};
      }
      if (expr.op->params[i].kind == ParamKind::Size) {
        arg = toScalar(operand);
      }
    } else if (const Items* items = std::get_if<Items>(&arg)) {
      std::vector<PolymorphicValue> list;
      for (const Item& item : *items) {
        const ValId* listed = std::get_if<ValId>(&item);
        list.push_back(listed != nullptr ? use(*listed)
                                         : PolymorphicValue(std::get<int64_t>(item)));
        if (list.back().isNull()) {
          return {};
        }
      }
      if (expr.op->params[i].kind == ParamKind::Sizes) {
        arg = intsOf(list);
      }
      operand = PolymorphicValue(std::move(list));
    }
  }
  const auto outputSizes = definition.isTensor() ? inferSizes(fusion_, expr, operandSizes)
                                                 : std::vector<std::vector<int64_t>>{};
  std::vector<PolymorphicValue> results =
      evaluateCall({&fusion_, &expr, operands, outputSizes, deviceOfFactories(known_),
                    needsSeed(expr) ? std::optional(drawSeed()) : std::nullopt});
  for (size_t i = 0; i < results.size(); ++i) {
    known[indexOf(expr.outputs[i])] = std::move(results[i]);
  }
  return known[indexOf(val)];
}

PolymorphicValue ExpressionEvaluator::evaluate(ValId val) {
  known_.resize(fusion_.vals().size());
  return compute(val, known_);
}

PolymorphicValue ExpressionEvaluator::evaluate(ValId val) const {
  std::vector<PolymorphicValue> scratch = known_;
  scratch.resize(fusion_.vals().size());
  return compute(val, scratch);
}

}  // namespace meshfuse
