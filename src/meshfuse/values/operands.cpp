#include "meshfuse/values/operands.h"

#include <string>

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include "meshfuse/base/error.h"
#include "meshfuse/values/conversions.h"

namespace meshfuse {
namespace {

constexpr std::string_view kRule = "Result is dynamic but not convertible to result type";

std::string kindText(const PolymorphicValue& value) {
  return "a " + std::string(nameOf(value.kind()));
}

std::string_view wayOut(const PolymorphicValue& a, const PolymorphicValue& b) {
  const bool distributed = a.is<DistributedTensor>() || b.is<DistributedTensor>();
  return distributed ? "compute it in a fusion, which knows the sharding, or use local()"
                     : "pass operands that the operation is defined for";
}

}  // namespace

bool isInteger(const PolymorphicValue& value) noexcept {
  return value.kind() == ValueKind::Bool || value.kind() == ValueKind::Int;
}

at::Tensor tensorOperand(const PolymorphicValue& value) {
  return value.is<at::Tensor>() ? value.tensorUnchecked()
                                : at::native::wrapped_scalar_tensor(toAtenScalar(value));
}

void throwOperands(std::string_view op, const PolymorphicValue& a) {
  throwUser(ErrorKind::Type, {op, kRule, kindText(a), wayOut(a, a)});
}

void throwOperands(std::string_view op, const PolymorphicValue& a, const PolymorphicValue& b) {
  throwUser(ErrorKind::Type, {op, kRule, kindText(a) + " and " + kindText(b), wayOut(a, b)});
}

void throwTorch(std::string_view op, const c10::Error& error) {
  throwUser(ErrorKind::Value, {op, "torch must accept the operands", error.what_without_backtrace(),
                               "pass operands that torch accepts"});
}

}  // namespace meshfuse
