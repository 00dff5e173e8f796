// A shared handle to a struct's fields (struct_value.h has the fields themselves).
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <c10/util/intrusive_ptr.h>

namespace meshfuse {

struct StructType;
class StructValue;
class FieldReference;

/// Shared ownership of one StructValue: copies of a handle see the same fields. A default-made handle holds nothing, and a
/// PolymorphicValue made from it is None.
class StructHandle {
 public:
  StructHandle() noexcept = default;
  /// A new instance of the described struct; every field is None until it is written.
  explicit StructHandle(StructType type);
  explicit StructHandle(std::shared_ptr<const StructType> type);
  /// Takes over one reference; `owner` is a StructValue or null.
  explicit StructHandle(c10::intrusive_ptr<c10::intrusive_ptr_target> owner) noexcept
      : owner_(std::move(owner)) {}

  explicit operator bool() const noexcept { return owner_.defined(); }
  /// The fields; an internal error when nothing is held.
  StructValue& operator*() const;
  StructValue* operator->() const;
  /// A field by name, to read or write; throws UserError(Index) for a name the struct lacks.
  FieldReference operator[](std::string_view name) const;

  bool sharesWith(const StructHandle& other) const noexcept {
    return owner_.get() == other.owner_.get();
  }
  c10::intrusive_ptr_target* release() noexcept { return owner_.release(); }

 private:
  c10::intrusive_ptr<c10::intrusive_ptr_target> owner_;
};

}  // namespace meshfuse
