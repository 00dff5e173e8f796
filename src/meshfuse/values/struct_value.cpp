#include "meshfuse/values/struct_value.h"

#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/values/value_types.h"

namespace meshfuse {

StructHandle::StructHandle(StructType type)
    : StructHandle(std::make_shared<const StructType>(std::move(type))) {}

StructHandle::StructHandle(std::shared_ptr<const StructType> type)
    : owner_(c10::make_intrusive<StructValue>(std::move(type))) {}

StructValue& StructHandle::operator*() const {
  internalCheck(owner_.defined(), "a struct handle that is dereferenced holds a struct");
  return static_cast<StructValue&>(*owner_);
}

StructValue* StructHandle::operator->() const { return &**this; }

FieldReference StructHandle::operator[](std::string_view name) const {
  return {*this, (**this).indexOf(name)};
}

StructValue::StructValue(std::shared_ptr<const StructType> type)
    : type_(std::move(type)), values_(type_->fields.size()) {}

size_t StructValue::indexOf(std::string_view name) const {
  for (size_t i = 0; i < type_->fields.size(); ++i) {
    if (type_->fields[i].name == name) {
      return i;
    }
  }
  std::string known;
  for (const StructField& field : type_->fields) {
    known.append(known.empty() ? "" : ", ").append(field.name);
  }
  throwUser(ErrorKind::Index, {"struct field", "the name must be a field of the struct",
                               "'" + std::string(name) + "' in struct '" + type_->name + "'",
                               known.empty() ? "the struct has no fields" : "use one of " + known});
}

void StructValue::setFieldAt(size_t index, PolymorphicValue value) {
  const StructField& field = type_->fields[index];
  if (value.hasValue() && !fits(value, field.type)) {
    throwUser(ErrorKind::Type, {"struct field", "the value is not compatible with the field's type",
                                "a " + std::string(nameOf(value.kind())) + " for field '" +
                                    field.name + "' of type " + field.type.toText(),
                                "write a value of the field's type"});
  }
  values_[index] = std::move(value);
}

}  // namespace meshfuse
