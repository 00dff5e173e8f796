// The fields of a struct value, read and written by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "meshfuse/types/data_type.h"
#include "meshfuse/values/polymorphic_value.h"
#include "meshfuse/values/struct_handle.h"

namespace meshfuse {

/// An instance of a described struct: one value for each field of its StructType, None until written.
class StructValue final : public c10::intrusive_ptr_target {
 public:
  explicit StructValue(std::shared_ptr<const StructType> type);

  const StructType& type() const noexcept { return *type_; }
  const std::shared_ptr<const StructType>& sharedType() const noexcept { return type_; }
  std::span<const PolymorphicValue> values() const noexcept { return values_; }

  /// Position of a field; throws UserError(Index) naming the struct's fields for a name it lacks.
  size_t indexOf(std::string_view name) const;
  const PolymorphicValue& field(std::string_view name) const { return values_[indexOf(name)]; }
  /// The field as the type it has in C++, readable and writable; throws UserError(Type) if it holds another kind.
  template <ValueMember T>
  decltype(auto) field(std::string_view name) {
    return values_[indexOf(name)].template as<T>();
  }
  /// Throws UserError(Type) with "not compatible" if the value does not fit the field's type. None always fits.
  void setField(std::string_view name, PolymorphicValue value) {
    setFieldAt(indexOf(name), std::move(value));
  }
  void setFieldAt(size_t index, PolymorphicValue value);

 private:
  std::shared_ptr<const StructType> type_;
  std::vector<PolymorphicValue> values_;
};

/// One field of a struct as something to read from and assign to; keeps the struct alive.
class FieldReference {
 public:
  FieldReference(StructHandle owner, size_t index) noexcept
      : owner_(std::move(owner)), index_(index) {}
  const PolymorphicValue& get() const { return owner_->values()[index_]; }
  // Implicit, since a field reads as the value that it holds.
  operator const PolymorphicValue&() const { return get(); }  // NOLINT(google-explicit-constructor)
  FieldReference& operator=(PolymorphicValue value) {
    owner_->setFieldAt(index_, std::move(value));
    return *this;
  }
  FieldReference(const FieldReference&) = default;
  FieldReference& operator=(const FieldReference& other) {
    return *this = PolymorphicValue(other.get());
  }
  ~FieldReference() = default;

 private:
  StructHandle owner_;
  size_t index_;
};

}  // namespace meshfuse
