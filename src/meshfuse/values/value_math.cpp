#include "meshfuse/values/value_math.h"

#include <cmath>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/values/arithmetic.h"
#include "meshfuse/values/comparison.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/operands.h"

namespace meshfuse {
namespace {

using Complex = std::complex<double>;

bool isReal(const PolymorphicValue& value) { return isScalar(value) && !value.is<Complex>(); }

bool isNan(const PolymorphicValue& value) {
  return value.is<double>() && std::isnan(value.as<double>());
}

int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) {
      throwUser(ErrorKind::Value,
                {"pow", "zero has no negative integer power",
                 "0 to the power " + std::to_string(exponent), "use a Double base"});
    }
    if (base == 1 || base == -1) {
      return base == 1 || exponent % 2 == 0 ? 1 : -1;
    }
    return 0;
  }
  uint64_t result = 1;
  for (auto factor = static_cast<uint64_t>(base); exponent != 0; exponent >>= 1, factor *= factor) {
    if ((exponent & 1) != 0) {
      result *= factor;
    }
  }
  return static_cast<int64_t>(result);
}

using TensorFunction = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

PolymorphicValue onTensors(std::string_view op, TensorFunction function, const PolymorphicValue& a,
                           const PolymorphicValue& b) {
  return callTorch(op, [&] { return function(tensorOperand(a), tensorOperand(b)); });
}

enum class NanRule : uint8_t { HandOn, Skip };

/// The operand that `preferA` prefers, as the number both operands promote to.
PolymorphicValue select(std::string_view op, TensorFunction function, NanRule rule, bool wantLarger,
                        const PolymorphicValue& a, const PolymorphicValue& b) {
  if (areTensorOperands(a, b)) {
    return onTensors(op, function, a, b);
  }
  if (!isReal(a) || !isReal(b)) {
    throwOperands(op, a, b);
  }
  const bool nanDecides = isNan(a) || isNan(b);
  const bool takeA =
      nanDecides ? isNan(a) == (rule == NanRule::HandOn) : (wantLarger ? a >= b : a <= b);
  const PolymorphicValue& taken = takeA ? a : b;
  return a.is<double>() || b.is<double>() ? PolymorphicValue(taken.to<double>()) : taken;
}

}  // namespace

PolymorphicValue ceilDiv(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isInteger(a) && isInteger(b)) {
    const PolymorphicValue quotient = a / b;
    const auto dividend = a.to<int64_t>();
    const auto divisor = b.to<int64_t>();
    const bool rest = divisor != -1 && dividend % divisor != 0;
    return quotient.as<int64_t>() + (rest && (dividend < 0) == (divisor < 0) ? 1 : 0);
  }
  return ceil(a / b);
}

PolymorphicValue ceil(const PolymorphicValue& a) {
  if (isInteger(a)) {
    return a;
  }
  if (a.is<double>()) {
    return std::ceil(a.as<double>());
  }
  if (a.is<at::Tensor>()) {
    return callTorch("ceil", [&] { return at::ceil(a.tensorUnchecked()); });
  }
  throwOperands("ceil", a);
}

PolymorphicValue signbit(const PolymorphicValue& a) {
  if (isInteger(a)) {
    return a.to<int64_t>() < 0;
  }
  if (a.is<double>()) {
    return std::signbit(a.as<double>());
  }
  if (a.is<at::Tensor>()) {
    return callTorch("signbit", [&] { return at::signbit(a.tensorUnchecked()); });
  }
  throwOperands("signbit", a);
}

PolymorphicValue abs(const PolymorphicValue& a) {
  switch (a.kind()) {
    case ValueKind::Bool:
      return a;
    case ValueKind::Int:
      return a.as<int64_t>() < 0 ? -a : a;
    case ValueKind::Double:
      return std::abs(a.as<double>());
    case ValueKind::Complex:
      return std::abs(a.as<Complex>());
    case ValueKind::Tensor:
      return callTorch("abs", [&] { return at::abs(a.tensorUnchecked()); });
    default:
      throwOperands("abs", a);
  }
}

PolymorphicValue erf(const PolymorphicValue& a) {
  if (!a.is<at::Tensor>()) {
    throwOperands("erf", a);
  }
  return callTorch("erf", [&] { return at::erf(a.tensorUnchecked()); });
}

PolymorphicValue fmod(const PolymorphicValue& a, const PolymorphicValue& b) {
  if (isReal(a) && isReal(b)) {
    return std::fmod(a.to<double>(), b.to<double>());
  }
  if (areTensorOperands(a, b)) {
    return onTensors("fmod", &at::fmod, a, b);
  }
  throwOperands("fmod", a, b);
}

PolymorphicValue pow(const PolymorphicValue& base, const PolymorphicValue& exponent) {
  if (isInteger(base) && isInteger(exponent)) {
    return integerPower(base.to<int64_t>(), exponent.to<int64_t>());
  }
  if (isReal(base) && isReal(exponent)) {
    return std::pow(base.to<double>(), exponent.to<double>());
  }
  if (isScalar(base) && isScalar(exponent)) {
    return std::pow(base.to<Complex>(), exponent.to<Complex>());
  }
  if (areTensorOperands(base, exponent)) {
    return onTensors("pow", &at::pow, base, exponent);
  }
  throwOperands("pow", base, exponent);
}

PolymorphicValue max(const PolymorphicValue& a, const PolymorphicValue& b) {
  return select("max", &at::maximum, NanRule::HandOn, /*wantLarger=*/true, a, b);
}
PolymorphicValue min(const PolymorphicValue& a, const PolymorphicValue& b) {
  return select("min", &at::minimum, NanRule::HandOn, /*wantLarger=*/false, a, b);
}
PolymorphicValue fmax(const PolymorphicValue& a, const PolymorphicValue& b) {
  return select("fmax", &at::fmax, NanRule::Skip, /*wantLarger=*/true, a, b);
}
PolymorphicValue fmin(const PolymorphicValue& a, const PolymorphicValue& b) {
  return select("fmin", &at::fmin, NanRule::Skip, /*wantLarger=*/false, a, b);
}

PolymorphicValue where(const PolymorphicValue& condition, const PolymorphicValue& a,
                       const PolymorphicValue& b) {
  if (areTensorOperands(condition, a, b)) {
    return callTorch("where", [&] {
      const at::Tensor holds = tensorOperand(condition).to(at::kBool);
      return at::where(holds, tensorOperand(a), tensorOperand(b));
    });
  }
  if (!isScalar(condition) || !isScalar(a) || !isScalar(b)) {
    throwOperands("where", isScalar(condition) ? (isScalar(a) ? b : a) : condition);
  }
  const PolymorphicValue& taken = condition.to<bool>() ? a : b;
  // Both branches give one kind, as C++'s conditional operator does.
  if (a.is<Complex>() || b.is<Complex>()) {
    return taken.to<Complex>();
  }
  if (a.is<double>() || b.is<double>()) {
    return taken.to<double>();
  }
  return a.is<bool>() && b.is<bool>() ? taken : PolymorphicValue(taken.to<int64_t>());
}

}  // namespace meshfuse
