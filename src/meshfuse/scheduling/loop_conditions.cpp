#include "meshfuse/scheduling/loop_conditions.h"

#include <cmath>
#include <cstdlib>

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

/// Whether a number is converted as the library does, without a look at its value.
bool isFillOfLoops(const Fusion& fusion, PrimType type, const Arg& value) {
  const std::optional<Scalar> number = constantOf(fusion, value);
  const PrimType given = number ? number->type() : fusion.val(std::get<ValId>(value)).dtype();
  switch (categoryOf(type)) {
    case TypeCategory::Complex:
      return true;
    case TypeCategory::Integral:
      return isIntegralOrBool(categoryOf(given)) && (number || type != PrimType::Int32);
    default:
      return categoryOf(given) != TypeCategory::Complex;
  }
}

/// Whether all numbers are known to be ones of the type.
bool isIotaOfLoops(const Fusion& fusion, const Expr& expr, PrimType type) {
  const std::optional<Scalar> start = constantOf(fusion, expr.args[1]);
  const std::optional<Scalar> step = constantOf(fusion, expr.args[2]);
  if (!start || !step) {
    return false;
  }
  if (type != PrimType::Int32) {
    return true;
  }
  const int64_t length = fusion.val(expr.outputs.front()).tensor().domain.front().extent.constant();
  const double last = start->toDouble() + step->toDouble() * static_cast<double>(length);
  return std::abs(start->toDouble()) < 0x1p31 && std::abs(last) < 0x1p31;
}

/// A distribution that is surely a right one of a type that ATen compares.
bool isDistributionOfLoops(const Fusion& fusion, const Expr& expr, PrimType type, bool isUniform) {
  const std::optional<Scalar> first = constantOf(fusion, expr.args[0]);
  const std::optional<Scalar> second = constantOf(fusion, expr.args[1]);
  const auto isWholeNumber = [&](const Arg& arg) {
    const ValId* val = std::get_if<ValId>(&arg);
    return val == nullptr ||
           (!fusion.val(*val).isTensor() && isIntegralOrBool(categoryOf(fusion.val(*val).dtype())));
  };
  if (!first || !second || !isWholeNumber(expr.args[3]) || !isWholeNumber(expr.args[4]) ||
      first->isComplex() || second->isComplex()) {
    return false;
  }
  const double most = type == PrimType::Half ? 60000.0 : 1e38;
  const double a = first->toDouble();
  const double b = second->toDouble();
  return std::abs(a) <= most && std::abs(b) <= most && (isUniform ? a <= b : b >= 0.0);
}

/// Rows of the weight as they are: one that is scaled to a norm is computed from all of its elements.
bool isEmbeddingOfLoops(const Fusion& fusion, const Expr& expr) {
  const auto isGiven = [&](size_t arg) {
    return !std::holds_alternative<std::monostate>(expr.args[arg]);
  };
  const int64_t rows =
      fusion.val(std::get<ValId>(expr.args[1])).tensor().domain[0].extent.constant();
  const std::optional<Scalar> padding = constantOf(fusion, expr.args[2]);
  const bool isRow =
      padding && padding->isInt() && padding->toInt() >= -rows && padding->toInt() < rows;
  return !isGiven(3) && (!isGiven(2) || isRow);
}

/// Whether a number is surely one of the type.
bool isPaddingOfLoops(const Fusion& fusion, const Expr& expr, PrimType type) {
  if (std::holds_alternative<std::monostate>(expr.args[2])) {
    return true;
  }
  const std::optional<Scalar> value = constantOf(fusion, expr.args[2]);
  if (!value || value->isComplex()) {
    return false;
  }
  const double most = type == PrimType::Half                       ? 60000.0
                      : bytesOf(type) == 1                         ? 200.0
                      : categoryOf(type) == TypeCategory::Integral ? 0x1p31 - 1
                                                                   : 1e38;
  const double number = value->toDouble();
  return std::abs(number) <= most && (type != PrimType::UInt64 || number >= 0.0);
}

/// An element is chosen among all operands, one after the other, where the library moves whole rows of each.
bool isCatOfLoops(const Expr& expr) {
  constexpr size_t kMostParts = 4;
  return std::get<Items>(expr.args[0]).size() <= kMostParts;
}

/// Types that torch scans, starts that are converted without a look at their value, and more than one element.
bool isScanOfLoops(const Fusion& fusion, const Expr& expr, PrimType type, Fold fold) {
  const bool compares = fold == Fold::Max || fold == Fold::Min;
  switch (type) {
    case PrimType::UInt64:
    case PrimType::Float8_e4m3fn:
    case PrimType::Float8_e5m2:
    case PrimType::Float8_e8m0fnu:
      return false;
    default:
      break;
  }
  if (!std::holds_alternative<std::monostate>(expr.args[2])) {
    const std::optional<Scalar> start = constantOf(fusion, expr.args[2]);
    const bool fits = !compares || type != PrimType::Int32 ||
                      (start && start->toInt() == static_cast<int32_t>(start->toInt()));
    if (!isFillOfLoops(fusion, type, expr.args[2]) || !fits) {
      return false;
    }
  }
  const auto dim = static_cast<size_t>(std::get<Scalar>(expr.args[1]).toInt());
  const IterDomain& domain = fusion.val(expr.outputs.front()).tensor().domain[dim];
  return domain.extent != IntExpr(1);
}

bool isRandomOfLoops(PrimType type) {
  return type == PrimType::Float || type == PrimType::Double || type == PrimType::Half ||
         type == PrimType::BFloat16;
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
  if (form.kind == LoopForm::Kind::Scan) {
    return isScanOfLoops(fusion, expr, type, form.fold);
  }
  switch (form.body) {
    case Body::Clamp:
      return isBoundOfLoops(fusion, type, expr.args[1]) &&
             isBoundOfLoops(fusion, type, expr.args[2]);
    case Body::Constant:
      return isFillOfLoops(fusion, type, expr.args[1]);
    case Body::Iota:
      return isIotaOfLoops(fusion, expr, type);
    case Body::Uniform:
    case Body::Normal:
      return isRandomOfLoops(type) &&
             isDistributionOfLoops(fusion, expr, type, form.body == Body::Uniform);
    case Body::Pad:
      return isPaddingOfLoops(fusion, expr, type);
    case Body::Cat:
      return isCatOfLoops(expr);
    case Body::Embedding:
      return isEmbeddingOfLoops(fusion, expr);
    case Body::UniformLike:
    case Body::NormalLike:
      return isRandomOfLoops(type);
    default:
      return true;
  }
}

}  // namespace meshfuse
