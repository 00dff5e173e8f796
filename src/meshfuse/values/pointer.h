// A typed address: where, and how wide one element is.
#pragma once

#include <compare>
#include <cstdint>

#include "meshfuse/base/error.h"
#include "meshfuse/types/data_type.h"

namespace meshfuse {

/// An address and the width of the element it points to, in bits. Steps count elements; a step that would end inside a byte
/// (an odd number of 4-bit elements) throws UserError(Value). Compares by address. Points to nothing that it owns.
class Pointer {
 public:
  Pointer() noexcept = default;
  Pointer(void* address, uint32_t pointeeBits) noexcept
      : address_(address), pointeeBits_(pointeeBits) {}
  /// Throws InternalError for types without a width (Null, Index).
  Pointer(void* address, PrimType pointee)
      : Pointer(address, static_cast<uint32_t>(bitsOf(pointee))) {
    internalCheck(pointeeBits_ != 0, "a pointer's element type has a width");
  }
  template <class T>
  explicit Pointer(T* address) noexcept
      : Pointer(const_cast<void*>(static_cast<const void*>(address)), sizeof(T) * 8) {}

  void* address() const noexcept { return address_; }
  uint32_t pointeeBits() const noexcept { return pointeeBits_; }
  bool isNull() const noexcept { return address_ == nullptr; }
  DataType dataType() const { return DataType(PointerType{pointeeBits_}); }

  Pointer& operator+=(int64_t elements) {
    address_ = stepped(elements);
    return *this;
  }
  Pointer& operator-=(int64_t elements) {
    return *this += static_cast<int64_t>(0 - static_cast<uint64_t>(elements));
  }
  Pointer& operator++() { return *this += 1; }
  Pointer& operator--() { return *this -= 1; }
  Pointer operator++(int) {
    Pointer before = *this;
    ++*this;
    return before;
  }
  Pointer operator--(int) {
    Pointer before = *this;
    --*this;
    return before;
  }
  friend Pointer operator+(Pointer p, int64_t elements) { return p += elements; }
  friend Pointer operator+(int64_t elements, Pointer p) { return p += elements; }
  friend Pointer operator-(Pointer p, int64_t elements) { return p -= elements; }
  /// Distance in elements; throws UserError(Type) when the element widths differ.
  friend int64_t operator-(const Pointer& a, const Pointer& b) { return a.elementsFrom(b); }

  friend bool operator==(const Pointer& a, const Pointer& b) noexcept {
    return a.address_ == b.address_;
  }
  friend std::strong_ordering operator<=>(const Pointer& a, const Pointer& b) noexcept {
    return a.word() <=> b.word();
  }

 private:
  uintptr_t word() const noexcept { return reinterpret_cast<uintptr_t>(address_); }
  void* stepped(int64_t elements) const;
  int64_t elementsFrom(const Pointer& origin) const;

  void* address_ = nullptr;
  uint32_t pointeeBits_ = 8;
};

}  // namespace meshfuse
