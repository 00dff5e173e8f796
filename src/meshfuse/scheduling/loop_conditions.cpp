#include "meshfuse/scheduling/loop_conditions.h"

#include <cmath>

namespace meshfuse {

namespace {

/// A bound that becomes an element's number in loops: whole numbers have a range of their own and no NaN.
bool isBoundOfLoops(const Fusion& fusion, PrimType type, const Arg& bound) {
  const bool isWhole = isIntegralOrBool(categoryOf(type));
  if (const std::optional<Scalar> number = constantOf(fusion, bound)) {
    return !isWhole || !std::isnan(number->toDouble());
  }
  const PrimType given = fusion.val(std::get<ValId>(bound)).dtype();
  return !isWhole || (type == PrimType::Int && isIntegralOrBool(categoryOf(given)));
}

}  // namespace

std::optional<Scalar> constantOf(const Fusion& fusion, const Arg& arg) {
  if (const Scalar* number = std::get_if<Scalar>(&arg)) {
    return *number;
  }
  const ValId* val = std::get_if<ValId>(&arg);
  return val == nullptr || fusion.val(*val).isTensor() ? std::nullopt
                                                       : fusion.val(*val).scalar().constant;
}

bool loopsCompute(const Fusion& fusion, const Expr& expr, const LoopForm& form) {
  const PrimType type = fusion.val(expr.outputs.front()).dtype();
  switch (form.body) {
    case Body::Clamp:
      return isBoundOfLoops(fusion, type, expr.args[1]) &&
             isBoundOfLoops(fusion, type, expr.args[2]);
    default:
      return true;
  }
}

}  // namespace meshfuse
