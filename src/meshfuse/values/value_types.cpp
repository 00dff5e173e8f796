#include "meshfuse/values/value_types.h"

#include <algorithm>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/torch_types.h"
#include "meshfuse/values/value_print.h"

namespace meshfuse {
namespace {

using Kind = ValueKind;
using Values = PolymorphicValue::Values;

DataType vectorType(const Values& values) {
  if (values.empty()) {
    throwUser(ErrorKind::Type,
              {"data type", "the type of a vector comes from its elements", "an empty vector",
               "name the type, or pass a vector with elements"});
  }
  DataType element = dataTypeOf(values.front());
  for (const PolymorphicValue& value : values) {
    if (!(dataTypeOf(value) == element)) {
      throwUser(ErrorKind::Type, {"data type", "the elements of a vector must have one type",
                                  element.toText() + " and " + dataTypeOf(value).toText(),
                                  "use a struct for values of several types"});
    }
  }
  return DataType(ArrayType{element, static_cast<int64_t>(values.size())});
}

bool fitsArray(const PolymorphicValue& value, const ArrayType& type) {
  if (!value.is<Values>()) {
    return false;
  }
  const Values& values = value.as<Values>();
  return std::ssize(values) == type.length &&
         std::ranges::all_of(values,
                             [&](const PolymorphicValue& v) { return fits(v, type.element); });
}

bool fitsStruct(const PolymorphicValue& value, const StructType& type) {
  if (!value.is<StructHandle>()) {
    return false;
  }
  const StructValue& held = *value.as<StructHandle>();
  if (held.type() == type) {
    return true;
  }
  if (held.type().fields.size() != type.fields.size()) {
    return false;
  }
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (held.type().fields[i].name != type.fields[i].name ||
        !fits(held.values()[i], type.fields[i].type)) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void throwNotCompatible(const PolymorphicValue& value, const DataType& type) {
  throwUser(ErrorKind::Type,
            {"cast", "the value is not compatible with the type",
             toText(value) + " (a " + std::string(nameOf(value.kind())) + ") for " + type.toText(),
             "pass a value that fits " + type.toText()});
}

PolymorphicValue castDistributed(const DistributedTensor& value, PrimType type) {
  const at::ScalarType wanted = torchDtype(type);
  if (value.scalarType() == wanted) {
    return value;
  }
  if (value.sharding()->hasPartial()) {
    throwUser(ErrorKind::Type,
              {"cast", "a partial value cannot change its type before it is reduced",
               value.sharding()->toText(), "redistribute to Replicate or Shard first"});
  }
  return DistributedTensor(value.local().to(wanted), value.sharding(), value.sizes(),
                           value.strides());
}

}  // namespace

DataType dataTypeOf(const PolymorphicValue& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return PrimType::Bool;
    case Kind::Int:
      return PrimType::Int;
    case Kind::Double:
      return PrimType::Double;
    case Kind::Complex:
      return PrimType::ComplexDouble;
    case Kind::Tensor:
      return primTypeOf(value.tensorUnchecked().scalar_type());
    case Kind::DistributedTensor:
      return primTypeOf(value.distributedUnchecked().scalarType());
    case Kind::Pointer:
      return value.as<Pointer>().dataType();
    case Kind::Opaque:
      return value.as<Opaque>().dataType();
    case Kind::Struct:
      return DataType(value.as<StructHandle>()->type());
    case Kind::Vector:
      return vectorType(value.as<Values>());
    case Kind::None:
      break;
  }
  throwUser(ErrorKind::Type,
            {"data type", "only a value has a type", "None", "test hasValue() first"});
}

bool fits(const PolymorphicValue& value, const DataType& type) {
  if (const ArrayType* array = type.array()) {
    return fitsArray(value, *array);
  }
  if (const StructType* structure = type.structure()) {
    return fitsStruct(value, *structure);
  }
  if (const PointerType* pointer = type.pointer()) {
    return value.is<Pointer>() && value.as<Pointer>().pointeeBits() == pointer->pointeeBits;
  }
  if (const OpaqueType* opaque = type.opaque()) {
    return value.is<Opaque>() && value.as<Opaque>().typeName() == opaque->name;
  }
  if (value.is<at::Tensor>()) {
    return findPrimTypeOf(value.tensorUnchecked().scalar_type()) == type.prim();
  }
  if (value.is<DistributedTensor>()) {
    return findPrimTypeOf(value.distributedUnchecked().scalarType()) == type.prim();
  }
  return isScalar(value) && toScalar(value).category() == categoryOf(type.prim());
}

PolymorphicValue castToDtype(const PolymorphicValue& value, const DataType& type) {
  if (const ArrayType* array = type.array()) {
    if (!value.is<Values>() || std::ssize(value.as<Values>()) != array->length) {
      throwNotCompatible(value, type);
    }
    Values cast;
    cast.reserve(value.as<Values>().size());
    for (const PolymorphicValue& element : value.as<Values>()) {
      cast.push_back(castToDtype(element, array->element));
    }
    return cast;
  }
  if (!type.isPrim()) {
    if (!fits(value, type)) {
      throwNotCompatible(value, type);
    }
    return value;
  }
  if (categoryOf(type.prim()) != TypeCategory::None) {
    if (isScalar(value)) {
      return toScalar(value).castTo(type.prim());
    }
    if (value.is<at::Tensor>()) {
      return value.tensorUnchecked().to(torchDtype(type.prim()));
    }
    if (value.is<DistributedTensor>()) {
      return castDistributed(value.distributedUnchecked(), type.prim());
    }
  }
  throwNotCompatible(value, type);
}

}  // namespace meshfuse
