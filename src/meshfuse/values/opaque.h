// A C++ value that the language carries without looking inside.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <c10/util/intrusive_ptr.h>

#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// The held object behind an Opaque; one subclass per C++ type.
class OpaqueBox : public c10::intrusive_ptr_target {
 public:
  virtual const std::type_info& typeInfo() const noexcept = 0;
  virtual bool equals(const OpaqueBox& other) const = 0;
  virtual std::span<const std::byte> bytes() const noexcept = 0;
  virtual const void* object() const noexcept = 0;
};

/// An immutable, shared C++ value of any copyable or movable type. Equal to another of the same C++ type by the type's own
/// `==`, bytewise if it has none and is trivially copyable, else only to itself; values of different C++ types are never equal.
class Opaque {
 public:
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Opaque>)
  static Opaque of(T&& value);
  /// Takes over one reference; null is not allowed.
  explicit Opaque(c10::intrusive_ptr<c10::intrusive_ptr_target> owner) noexcept
      : owner_(std::move(owner)) {}

  template <class T>
  bool is() const noexcept {
    return box().typeInfo() == typeid(T);
  }
  /// The held object; throws UserError(Type) naming both types if it is not a T.
  template <class T>
  const T& as() const {
    if (!is<T>()) [[unlikely]] {
      throwWrongType(typeid(T));
    }
    return *static_cast<const T*>(box().object());
  }

  /// The C++ name of the held type.
  std::string typeName() const;
  DataType dataType() const;
  /// The object's bytes as they lie in memory.
  std::span<const std::byte> bytes() const noexcept { return box().bytes(); }
  friend bool operator==(const Opaque& a, const Opaque& b) {
    return a.sharesWith(b) || (a.box().typeInfo() == b.box().typeInfo() && a.box().equals(b.box()));
  }
  bool sharesWith(const Opaque& other) const noexcept { return owner_.get() == other.owner_.get(); }
  c10::intrusive_ptr_target* release() noexcept { return owner_.release(); }

 private:
  const OpaqueBox& box() const noexcept { return static_cast<const OpaqueBox&>(*owner_); }
  [[noreturn]] void throwWrongType(const std::type_info& wanted) const;

  c10::intrusive_ptr<c10::intrusive_ptr_target> owner_;
};

template <class T>
class OpaqueBoxOf final : public OpaqueBox {
 public:
  explicit OpaqueBoxOf(T value) : value_(std::move(value)) {}
  const std::type_info& typeInfo() const noexcept override { return typeid(T); }
  bool equals(const OpaqueBox& other) const override {
    const T& theirs = *static_cast<const T*>(other.object());
    if constexpr (requires { static_cast<bool>(value_ == theirs); }) {
      return static_cast<bool>(value_ == theirs);
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      return std::memcmp(std::addressof(value_), std::addressof(theirs), sizeof(T)) == 0;
    } else {
      return std::addressof(value_) == std::addressof(theirs);
    }
  }
  std::span<const std::byte> bytes() const noexcept override {
    return {static_cast<const std::byte*>(object()), sizeof(T)};
  }
  const void* object() const noexcept override { return std::addressof(value_); }

 private:
  T value_;
};

template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Opaque>)
Opaque Opaque::of(T&& value) {
  using Held = std::remove_cvref_t<T>;
  return Opaque(c10::intrusive_ptr<c10::intrusive_ptr_target>(
      c10::make_intrusive<OpaqueBoxOf<Held>>(std::forward<T>(value))));
}

}  // namespace meshfuse
