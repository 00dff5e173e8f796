#include "meshfuse/values/conversions.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

using Kind = ValueKind;
using Values = PolymorphicValue::Values;

/// Carries a value through torch's generic value; recognised again by its C++ type.
class ValueCapsule final : public torch::CustomClassHolder {
 public:
  explicit ValueCapsule(PolymorphicValue v) noexcept : value(std::move(v)) {}
  PolymorphicValue value;
};

[[noreturn]] void throwNotScalar(const PolymorphicValue& value) {
  throwUser(ErrorKind::Type, {"toScalar", "the value must be a Bool, Int, Double or Complex",
                              "a " + std::string(nameOf(value.kind())), "pass a number"});
}

at::Tensor stacked(const Values& values, c10::Device device) {
  if (values.empty()) {
    return at::empty({0}, at::TensorOptions().device(device).dtype(at::kLong));
  }
  std::vector<at::Tensor> parts;
  parts.reserve(values.size());
  for (const PolymorphicValue& value : values) {
    parts.push_back(toTensor(value, device));
    if (parts.back().sizes() != parts.front().sizes()) {
      throwUser(ErrorKind::Value,
                {"toTensor", "the elements of a vector must have one shape",
                 "shapes of rank " + std::to_string(parts.front().dim()) + " and " +
                     std::to_string(parts.back().dim()) + " that differ",
                 "pass a vector whose elements stack"});
    }
  }
  return at::stack(parts);
}

c10::IValue listOf(const Values& values) {
  c10::impl::GenericList list(c10::AnyType::get());
  list.reserve(values.size());
  for (const PolymorphicValue& value : values) {
    list.push_back(toIValue(value));
  }
  return list;
}

PolymorphicValue fromCapsule(const c10::IValue& value) {
  const auto holder = value.toCapsule();
  if (const auto* capsule = dynamic_cast<const ValueCapsule*>(holder.get())) {
    return capsule->value;
  }
  throwUser(ErrorKind::Type,
            {"IValueToPolymorphicValue", "a capsule must be one that toIValue made",
             "a capsule of another library", "pass a number, a tensor or a list"});
}

template <class Elements>
PolymorphicValue vectorOf(const Elements& elements) {
  Values values;
  values.reserve(elements.size());
  for (const c10::IValue& element : elements) {
    values.push_back(IValueToPolymorphicValue(element));
  }
  return values;
}

}  // namespace

bool isScalar(const PolymorphicValue& value) noexcept {
  return value.kind() >= Kind::Bool && value.kind() <= Kind::Complex;
}

Scalar toScalar(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return value.as<bool>();
    case Kind::Int:
      return value.as<int64_t>();
    case Kind::Double:
      return value.as<double>();
    case Kind::Complex:
      return value.as<std::complex<double>>();
    default:
      throwNotScalar(value);
  }
}

at::Scalar toAtenScalar(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return value.as<bool>();
    case Kind::Int:
      return value.as<int64_t>();
    case Kind::Double:
      return value.as<double>();
    case Kind::Complex:
      return c10::complex<double>(value.as<std::complex<double>>());
    default:
      throwNotScalar(value);
  }
}

at::Tensor toTensor(const PolymorphicValue& value, c10::Device device) {
  switch (value.kind()) {
    case Kind::Tensor:
      return value.tensorUnchecked();
    case Kind::Bool:
    case Kind::Int:
    case Kind::Double:
    case Kind::Complex: {
      const at::Scalar scalar = toAtenScalar(value);
      return at::scalar_tensor(scalar, at::TensorOptions().device(device).dtype(scalar.type()));
    }
    case Kind::Vector:
      return stacked(value.as<Values>(), device);
    case Kind::DistributedTensor:
      throwUser(ErrorKind::Type,
                {"toTensor", "a distributed tensor is not one tensor",
                 value.distributedUnchecked().sharding()->toText(),
                 "take this rank's part with local(), or redistribute to Replicate first"});
    default:
      throwUser(ErrorKind::Type,
                {"toTensor", "the value must be a number, a tensor or a vector of them",
                 "a " + std::string(nameOf(value.kind())), "pass one of those"});
  }
}

c10::IValue toIValue(const PolymorphicValue& value) { return toIValue(PolymorphicValue(value)); }

c10::IValue toIValue(PolymorphicValue&& value) {
  switch (value.kind()) {
    case Kind::None:
      return {};
    case Kind::Bool:
    case Kind::Int:
    case Kind::Double:
    case Kind::Complex:
      return toAtenScalar(value);
    case Kind::Tensor:
      return std::move(value).takeTensor();
    case Kind::Vector:
      return listOf(value.as<Values>());
    default:
      return c10::IValue::make_capsule(c10::make_intrusive<ValueCapsule>(std::move(value)));
  }
}

PolymorphicValue IValueToPolymorphicValue(const c10::IValue& value) {
  if (value.isTensor()) {
    return value.toTensor();
  }
  if (value.isInt()) {
    return value.toInt();
  }
  if (value.isDouble()) {
    return value.toDouble();
  }
  if (value.isBool()) {
    return value.toBool();
  }
  if (value.isComplexDouble()) {
    return std::complex<double>(value.toComplexDouble());
  }
  if (value.isNone()) {
    return {};
  }
  if (value.isList()) {
    return vectorOf(value.toListRef());
  }
  if (value.isTuple()) {
    return vectorOf(value.toTupleRef().elements());
  }
  if (value.isCapsule()) {
    return fromCapsule(value);
  }
  throwUser(ErrorKind::Type, {"IValueToPolymorphicValue",
                              "the value must be a number, a tensor, None, a list or a tuple",
                              "a " + value.tagKind(), "convert it before it is passed"});
}

PolymorphicValue IValueToPolymorphicValue(c10::IValue&& value) {
  if (value.isTensor()) {
    return std::move(value).toTensor();
  }
  return IValueToPolymorphicValue(static_cast<const c10::IValue&>(value));
}

}  // namespace meshfuse
