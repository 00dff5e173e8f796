#include "meshfuse/values/argument_bytes.h"

#include <cstring>
#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/struct_value.h"
#include "meshfuse/values/torch_types.h"
#include "meshfuse/values/value_print.h"
#include "meshfuse/values/value_types.h"

namespace meshfuse {
namespace {

using Bytes = std::vector<std::byte>;
using Values = PolymorphicValue::Values;

template <class T>
void append(Bytes& out, const T& plain) {
  const auto* first = reinterpret_cast<const std::byte*>(&plain);
  out.insert(out.end(), first, first + sizeof(T));
}

[[noreturn]] void throwMix(const PolymorphicValue& value, const DataType& type) {
  throwUser(ErrorKind::Type,
            {"argument bytes", "the value cannot be passed as the type",
             toText(value) + " (a " + std::string(nameOf(value.kind())) + ") as " + type.toText(),
             "pass a value of the type"});
}

void appendIndex(Bytes& out, int64_t value, PrimType indexType) {
  if (indexType == PrimType::Int) {
    append(out, value);
    return;
  }
  const auto narrow = static_cast<int32_t>(value);
  if (narrow != value) {
    throwUser(ErrorKind::Value, {"argument bytes", "an index must fit the index type",
                                 std::to_string(value) + " as Int32", "use Int as the index type"});
  }
  append(out, narrow);
}

void appendInteger(Bytes& out, const PolymorphicValue& value, PrimType type, PrimType indexType) {
  const int64_t number = value.as<int64_t>();
  switch (type) {
    case PrimType::Int:
      return append(out, number);
    case PrimType::UInt64:
      return append(out, static_cast<uint64_t>(number));
    case PrimType::Int32:
      return appendIndex(out, number, PrimType::Int32);
    case PrimType::Index:
      return appendIndex(out, number, indexType);
    default:
      throwMix(value, type);
  }
}

void appendReal(Bytes& out, const PolymorphicValue& value, PrimType type) {
  const double number = value.as<double>();
  const auto single = static_cast<float>(number);
  switch (type) {
    case PrimType::Double:
      return append(out, number);
    case PrimType::Float:
      return append(out, single);
    case PrimType::Half:
      return append(out, c10::Half(single));
    case PrimType::BFloat16:
      return append(out, c10::BFloat16(single));
    case PrimType::Float8_e4m3fn:
      return append(out, c10::Float8_e4m3fn(single));
    case PrimType::Float8_e5m2:
      return append(out, c10::Float8_e5m2(single));
    case PrimType::Float8_e8m0fnu:
      return append(out, c10::Float8_e8m0fnu(single));
    default:
      throwMix(value, type);
  }
}

void appendComplex(Bytes& out, const PolymorphicValue& value, PrimType type) {
  const std::complex<double>& number = value.as<std::complex<double>>();
  switch (type) {
    case PrimType::ComplexDouble:
      return append(out, number);
    case PrimType::ComplexFloat:
      return append(out, std::complex<float>(number));
    default:
      throwMix(value, type);
  }
}

/// Elements in one storage unit of a packed type, 1 for all others.
int64_t packing(at::ScalarType type) { return type == at::ScalarType::Float4_e2m1fn_x2 ? 2 : 1; }

void appendTensor(Bytes& out, const at::Tensor& local, c10::IntArrayRef sizes,
                  c10::IntArrayRef strides, PrimType indexType) {
  append(out, local.is_meta() ? uint64_t{0} : reinterpret_cast<uint64_t>(local.const_data_ptr()));
  const int64_t packed = packing(local.scalar_type());
  const size_t rank = sizes.size();
  for (size_t i = 0; i < rank; ++i) {
    appendIndex(out, i + 1 == rank ? sizes[i] * packed : sizes[i], indexType);
  }
  for (size_t i = 0; i < rank; ++i) {
    appendIndex(out, i + 1 == rank ? strides[i] : strides[i] * packed, indexType);
  }
}

void appendTensorArgument(Bytes& out, const at::Tensor& tensor, const DataType& type,
                          PrimType indexType) {
  if (findPrimTypeOf(tensor.scalar_type()) != type.prim() || !type.isPrim()) {
    throwMix(tensor, type);
  }
  if (tensor.dim() == 0 && tensor.device().is_cpu()) {
    const auto* first = static_cast<const std::byte*>(tensor.const_data_ptr());
    out.insert(out.end(), first, first + tensor.element_size());
    return;
  }
  appendTensor(out, tensor, tensor.sizes(), tensor.strides(), indexType);
}

void appendValue(Bytes& out, const PolymorphicValue& value, const DataType& type,
                 PrimType indexType);

void appendArray(Bytes& out, const PolymorphicValue& value, const ArrayType& type,
                 PrimType indexType) {
  if (!value.is<Values>() || std::ssize(value.as<Values>()) != type.length) {
    throwMix(value, DataType(type));
  }
  for (const PolymorphicValue& element : value.as<Values>()) {
    appendValue(out, element, type.element, indexType);
  }
}

void appendStruct(Bytes& out, const PolymorphicValue& value, const StructType& type,
                  PrimType indexType) {
  if (!value.is<StructHandle>() ||
      value.as<StructHandle>()->type().fields.size() != type.fields.size()) {
    throwMix(value, DataType(type));
  }
  const StructValue& held = *value.as<StructHandle>();
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (held.type().fields[i].name != type.fields[i].name) {
      throwMix(value, DataType(type));
    }
    if (type.fields[i].usedInKernels) {
      appendValue(out, held.values()[i], type.fields[i].type, indexType);
    }
  }
}

void appendPrim(Bytes& out, const PolymorphicValue& value, PrimType type, PrimType indexType) {
  switch (value.kind()) {
    case ValueKind::Bool:
      if (type != PrimType::Bool) {
        throwMix(value, type);
      }
      return append(out, static_cast<uint8_t>(value.as<bool>()));
    case ValueKind::Int:
      return appendInteger(out, value, type, indexType);
    case ValueKind::Double:
      return appendReal(out, value, type);
    case ValueKind::Complex:
      return appendComplex(out, value, type);
    case ValueKind::Tensor:
      return appendTensorArgument(out, value.tensorUnchecked(), type, indexType);
    case ValueKind::DistributedTensor: {
      const DistributedTensor& tensor = value.distributedUnchecked();
      if (findPrimTypeOf(tensor.scalarType()) != type) {
        throwMix(value, type);
      }
      return appendTensor(out, tensor.local(), tensor.sizes(), tensor.strides(), indexType);
    }
    default:
      throwMix(value, type);
  }
}

void appendValue(Bytes& out, const PolymorphicValue& value, const DataType& type,
                 PrimType indexType) {
  if (const ArrayType* array = type.array()) {
    appendArray(out, value, *array, indexType);
  } else if (const StructType* structure = type.structure()) {
    appendStruct(out, value, *structure, indexType);
  } else if (type.pointer() != nullptr) {
    if (!fits(value, type)) {
      throwMix(value, type);
    }
    append(out, value.as<Pointer>().address());
  } else if (type.opaque() != nullptr) {
    if (!fits(value, type)) {
      throwMix(value, type);
    }
    const auto bytes = value.as<Opaque>().bytes();
    out.insert(out.end(), bytes.begin(), bytes.end());
  } else {
    appendPrim(out, value, type.prim(), indexType);
  }
}

}  // namespace

std::vector<std::byte> argumentBytes(const PolymorphicValue& value, const DataType& type,
                                     PrimType indexType) {
  if (indexType != PrimType::Int && indexType != PrimType::Int32) {
    throwUser(ErrorKind::Type, {"argument bytes", "the index type must be Int or Int32",
                                "DataType." + std::string(nameOf(indexType)), "pass Int or Int32"});
  }
  Bytes out;
  appendValue(out, value, type, indexType);
  return out;
}

}  // namespace meshfuse
