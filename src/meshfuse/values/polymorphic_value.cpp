#include "meshfuse/values/polymorphic_value.h"

#include <array>
#include <cmath>

#include "meshfuse/base/error.h"
#include "meshfuse/values/struct_value.h"

namespace meshfuse {
namespace {

using Kind = ValueKind;

constexpr std::array<std::string_view, kValueKinds> kKindNames = {
    "None",    "Bool",   "Int",    "Double", "Complex", "Tensor", "DistributedTensor",
    "Pointer", "Opaque", "Struct", "Vector"};

[[noreturn]] void throwCannotIndex(const PolymorphicValue& value) {
  throwUser(ErrorKind::Type, {"operator[]", "Cannot index a value that is not a Vector",
                              "a " + std::string(nameOf(value.kind())), "index a Vector"});
}

size_t checkedPosition(int64_t index, size_t size) {
  if (index < 0 || static_cast<uint64_t>(index) >= size) [[unlikely]] {
    throwUser(ErrorKind::Index,
              {"operator[]", "the position must lie inside the vector",
               std::to_string(index) + " for " + std::to_string(size) + " elements",
               size == 0 ? "the vector is empty" : "use 0 to " + std::to_string(size - 1)});
  }
  return static_cast<size_t>(index);
}

int64_t positionOf(const PolymorphicValue& index) {
  if (index.is<int64_t>()) {
    return index.as<int64_t>();
  }
  if (index.is<bool>()) {
    return index.as<bool>() ? 1 : 0;
  }
  throwUser(ErrorKind::Type, {"operator[]", "a position must be an integer",
                              "a " + std::string(nameOf(index.kind())), "index with an Int"});
}

}  // namespace

std::string_view nameOf(ValueKind kind) noexcept { return kKindNames[static_cast<size_t>(kind)]; }

PolymorphicValue::PolymorphicValue(std::complex<double> v)
    : words_(c10::make_intrusive<ComplexBox>(v).release(), ValueWords::tagOf(Kind::Complex)) {}

PolymorphicValue::PolymorphicValue(Values v)
    : words_(c10::make_intrusive<VectorBox>(std::move(v)).release(),
             ValueWords::tagOf(Kind::Vector)) {}

PolymorphicValue::PolymorphicValue(const Scalar& v)
    : PolymorphicValue(v.visit([](auto held) { return PolymorphicValue(held); })) {}

void PolymorphicValue::throwWrongKind(Kind asked) const {
  throwUser(ErrorKind::Type,
            {"PolymorphicValue.as", "the kind asked for must be the kind held",
             "held " + std::string(nameOf(kind())) + ", asked for " + std::string(nameOf(asked)),
             "test the kind first, or convert with to<T>()"});
}

PolymorphicValue::Values& PolymorphicValue::uniqueVector() {
  if (!isOnlyOwner(words_.target())) {
    *this = PolymorphicValue(Values(get<Values>()));
  }
  return static_cast<VectorBox*>(words_.target())->values;
}

std::complex<double>& PolymorphicValue::uniqueComplex() {
  if (!isOnlyOwner(words_.target())) {
    *this = PolymorphicValue(std::complex<double>(get<std::complex<double>>()));
  }
  return static_cast<ComplexBox*>(words_.target())->value;
}

const PolymorphicValue& PolymorphicValue::operator[](int64_t index) const {
  if (!is<Values>()) {
    throwCannotIndex(*this);
  }
  const Values& values = get<Values>();
  return values[checkedPosition(index, values.size())];
}

PolymorphicValue& PolymorphicValue::operator[](int64_t index) {
  if (!is<Values>()) {
    throwCannotIndex(*this);
  }
  const size_t position = checkedPosition(index, get<Values>().size());
  return uniqueVector()[position];
}

const PolymorphicValue& PolymorphicValue::operator[](const PolymorphicValue& index) const {
  if (!is<Values>()) {
    throwCannotIndex(*this);
  }
  return (*this)[positionOf(index)];
}

PolymorphicValue& PolymorphicValue::operator[](const PolymorphicValue& index) {
  if (!is<Values>()) {
    throwCannotIndex(*this);
  }
  return (*this)[positionOf(index)];
}

StructValue& PolymorphicValue::operator*() const {
  if (!is<StructHandle>()) {
    throwUser(ErrorKind::Type, {"operator*", "Cannot dereference a value that is not a Struct",
                                "a " + std::string(nameOf(kind())), "dereference a Struct"});
  }
  return *get<StructHandle>();
}

namespace detail {

void throwNotConvertible(const PolymorphicValue& value, std::string_view wanted) {
  throwUser(ErrorKind::Type,
            {"convert", "Result is dynamic but not convertible to result type",
             "a " + std::string(nameOf(value.kind())) + " asked for as " + std::string(wanted),
             "ask for a type that the held value converts to"});
}

int64_t toInteger(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return value.as<bool>() ? 1 : 0;
    case Kind::Int:
      return value.as<int64_t>();
    case Kind::Double:
      return Scalar(value.as<double>()).toInt();
    default:
      throwNotConvertible(value, "an integer");
  }
}

double toReal(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return value.as<bool>() ? 1.0 : 0.0;
    case Kind::Int:
      return static_cast<double>(value.as<int64_t>());
    case Kind::Double:
      return value.as<double>();
    default:
      throwNotConvertible(value, "a floating-point number");
  }
}

bool toBoolean(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return value.as<bool>();
    case Kind::Int:
      return value.as<int64_t>() != 0;
    case Kind::Double:
      return value.as<double>() != 0.0;
    case Kind::Complex:
      return value.as<std::complex<double>>() != 0.0;
    case Kind::Pointer:
      return !value.as<Pointer>().isNull();
    default:
      throwNotConvertible(value, "a bool");
  }
}

std::complex<double> toComplex(const PolymorphicValue& value) {
  return value.is<std::complex<double>>() ? value.as<std::complex<double>>() : toReal(value);
}

}  // namespace detail
}  // namespace meshfuse
