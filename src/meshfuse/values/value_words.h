// The sixteen bytes behind a value: a payload word and a tag word, with the reference count handled in one place.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include "meshfuse/values/opaque.h"
#include "meshfuse/values/struct_handle.h"

namespace meshfuse {

/// What a value holds.
enum class ValueKind : uint8_t {
  None,
  Bool,
  Int,
  Double,
  Complex,
  Tensor,
  DistributedTensor,
  Pointer,
  Opaque,
  Struct,
  Vector,
};

inline constexpr int kValueKinds = 11;

/// Owner of one value's bits. The tag is `aux | kind << 32 | flags << 40`, written and read as one word so that a load never
/// waits for narrower stores. Copying increments one reference count, and only when the flag says there is one; moving copies
/// two words and leaves None behind, so that relocating a value is a copy of its bytes.
class ValueWords {
 public:
  static constexpr uint64_t kCounted =
      uint64_t{1} << 40;  // the payload owns a reference to an intrusive_ptr_target
  static constexpr uint64_t kBoxed =
      uint64_t{1} << 41;  // DistributedTensor: the payload is a box with global sizes

  static constexpr uint64_t tagOf(ValueKind kind, uint64_t flags = 0, uint32_t aux = 0) noexcept {
    return aux | static_cast<uint64_t>(kind) << 32 | flags;
  }

  ValueWords() noexcept : payload_{.bits = 0}, tag_(0) {}
  ValueWords(uint64_t bits, uint64_t tag) noexcept : payload_{.bits = bits}, tag_(tag) {}
  /// Takes over one reference to `target`.
  ValueWords(c10::intrusive_ptr_target* target, uint64_t tag) noexcept
      : payload_{.target = target}, tag_(tag | kCounted) {}

  ValueWords(const ValueWords& other) noexcept
      : payload_{.bits = other.payload_.bits}, tag_(other.tag_) {
    retain();
  }
  ValueWords(ValueWords&& other) noexcept
      : payload_{.bits = other.payload_.bits}, tag_(other.tag_) {
    other.tag_ = 0;
  }
  ValueWords& operator=(const ValueWords& other) noexcept {
    ValueWords copy(other);
    swap(copy);
    return *this;
  }
  ValueWords& operator=(ValueWords&& other) noexcept {
    ValueWords taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~ValueWords() {
    if (isCounted()) {
      c10::raw::intrusive_ptr::decref(payload_.target);
    }
  }

  void swap(ValueWords& other) noexcept {
    std::swap(payload_.bits, other.payload_.bits);
    std::swap(tag_, other.tag_);
  }

  ValueKind kind() const noexcept {
    return static_cast<ValueKind>(static_cast<uint8_t>(tag_ >> 32));
  }
  uint32_t aux() const noexcept { return static_cast<uint32_t>(tag_); }
  uint64_t tag() const noexcept { return tag_; }
  uint64_t bits() const noexcept { return payload_.bits; }
  bool isCounted() const noexcept { return (tag_ & kCounted) != 0; }
  bool isBoxed() const noexcept { return (tag_ & kBoxed) != 0; }

  /// Hands the reference to the caller and becomes None.
  c10::intrusive_ptr_target* releaseTarget() noexcept {
    tag_ = 0;
    return payload_.target;
  }

  /// The tensor whose TensorImpl is the payload, without touching its reference count.
  at::Tensor takeTensor() noexcept {
    return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(
        static_cast<c10::TensorImpl*>(releaseTarget())));
  }

  // The payload as each kind sees it; the caller has checked the kind.
  bool& boolean() noexcept { return payload_.boolean; }
  const bool& boolean() const noexcept { return payload_.boolean; }
  int64_t& integer() noexcept { return payload_.integer; }
  const int64_t& integer() const noexcept { return payload_.integer; }
  double& real() noexcept { return payload_.real; }
  const double& real() const noexcept { return payload_.real; }
  void* address() const noexcept { return payload_.address; }
  c10::intrusive_ptr_target* target() const noexcept { return payload_.target; }
  const at::Tensor& tensor() const noexcept { return payload_.tensor; }
  const StructHandle& structure() const noexcept { return payload_.structure; }
  const Opaque& opaque() const noexcept { return payload_.opaque; }

 private:
  void retain() const noexcept {
    if (isCounted()) {
      c10::raw::intrusive_ptr::incref(payload_.target);
    }
  }

  // at::Tensor, StructHandle and Opaque are each one intrusive pointer, so the payload can be read as any of them; TensorImpl
  // and the boxes have intrusive_ptr_target as their first base.
  union Payload {
    uint64_t bits;
    bool boolean;
    int64_t integer;
    double real;
    void* address;
    c10::intrusive_ptr_target* target;
    at::Tensor tensor;
    StructHandle structure;
    Opaque opaque;
    ~Payload() {}
  };

  Payload payload_;
  uint64_t tag_;
};

static_assert(sizeof(ValueWords) == 16 && alignof(ValueWords) == 8);
static_assert(sizeof(at::Tensor) == 8 && sizeof(StructHandle) == 8 && sizeof(Opaque) == 8);
static_assert(std::is_nothrow_move_constructible_v<ValueWords> &&
              std::is_nothrow_move_assignable_v<ValueWords>);

}  // namespace meshfuse
