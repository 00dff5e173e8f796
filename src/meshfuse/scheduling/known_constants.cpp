#include "meshfuse/scheduling/known_constants.h"

#include <utility>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/infer.h"
#include "meshfuse/ops/op_info.h"

namespace meshfuse {

namespace {

bool isExact(PrimType type) { return type == PrimType::Bool || type == PrimType::Int; }

/// A number as an element of `type`; nullopt where that is no plain conversion.
std::optional<Scalar> elementOf(const std::optional<Scalar>& number, PrimType type) {
  return number && isExact(type) && number->type() == type ? number : std::nullopt;
}

}  // namespace

KnownConstants::KnownConstants(const Fusion& fusion)
    : fusion_(fusion), numbers_(fusion.vals().size()), fills_(fusion.vals().size()) {
  for (size_t i = 0; i < fusion.vals().size(); ++i) {
    if (!fusion.vals()[i].isTensor()) {
      numbers_[i] = fusion.vals()[i].scalar().constant;
    }
  }
}

std::optional<Scalar> KnownConstants::numberOf(const Arg& arg) const {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return *number;
  }
  const ValId* val = std::get_if<ValId>(&arg);
  return val == nullptr ? std::nullopt : numbers_[indexOf(*val)];
}

std::optional<Scalar> KnownConstants::folded(const Expr& expr, std::span<const Scalar> operands,
                                             std::span<const TensorType> tensors) const {
  const OpInfo& op = infoOf(*expr.op);
  if (op.fold == nullptr || op.extent != nullptr) {
    return std::nullopt;
  }
  try {
    return op.fold({&op, &fusion_, expr.args, tensors}, operands);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

bool KnownConstants::foldsToNumber(const Expr& expr) {
  const ValId result = expr.outputs.front();
  if (fusion_.val(result).isTensor()) {
    return false;
  }
  std::vector<Scalar> operands;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (expr.op->params[i].kind != ParamKind::Operand) {
      continue;
    }
    const std::optional<Scalar> operand = numberOf(expr.args[i]);
    if (!operand) {
      return false;
    }
    operands.push_back(*operand);
  }
  numbers_[indexOf(result)] = folded(expr, operands, {});
  return numbers_[indexOf(result)].has_value();
}

/// The number that a tensor operand is filled with, or a number among the operands.
std::optional<Scalar> KnownConstants::fillOf(const Arg& arg, const TensorType& result) const {
  const ValId* val = std::get_if<ValId>(&arg);
  if (val == nullptr || !fusion_.val(*val).isTensor()) {
    const std::optional<Scalar> number = numberOf(arg);
    return number && isExact(number->type()) ? number : std::nullopt;
  }
  // Of other sizes the result could have other strides.
  return fusion_.val(*val).tensor().domain == result.domain ? fills_[indexOf(*val)] : std::nullopt;
}

std::optional<Expr> KnownConstants::filled(const Expr& expr) {
  static const OpInfo* const kFull = findOp("full");
  static const OpInfo* const kCast = findOp("cast");
  const ValId output = expr.outputs.front();
  const Val& result = fusion_.val(output);
  if (!result.isTensor() || result.tensor().sharding || !isExact(result.dtype())) {
    return std::nullopt;
  }
  std::optional<Scalar>& fill = fills_[indexOf(output)];
  if (expr.op == kFull) {
    fill = elementOf(numberOf(expr.args[1]), result.dtype());
    return std::nullopt;
  }
  if (!infoOf(*expr.op).isPointwise() && expr.op != kCast) {
    return std::nullopt;
  }
  std::vector<Scalar> operands;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (expr.op->params[i].kind == ParamKind::Operand) {
      const std::optional<Scalar> operand = fillOf(expr.args[i], result.tensor());
      if (!operand) {
        return std::nullopt;
      }
      operands.push_back(*operand);
    }
  }
  fill = elementOf(folded(expr, operands, tensorOperands(fusion_, expr.args)), result.dtype());
  if (!fill) {
    return std::nullopt;
  }
  Ints sizes;
  for (const IterDomain& domain : result.tensor().domain) {
    sizes.push_back(domain.extent.constant());
  }
  return Expr{kFull, {std::move(sizes), *fill, result.dtype()}, expr.outputs};
}

}  // namespace meshfuse
