// The sixteen bytes behind a value: a payload word and a tag word, with the reference count handled in one place.
#pragma once

#include <atomic>
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

/// Whether the caller holds the only reference, so that it may change or empty the object: what others did with it before they
/// let go is visible then.
inline bool isOnlyOwner(c10::intrusive_ptr_target* target) noexcept {
  if (c10::raw::intrusive_ptr::use_count(target) != 1) {
    return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

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
  /// A new reference to the tensor, None when it is undefined.
  explicit ValueWords(const at::Tensor& tensor) noexcept
      : payload_{.target = tensor.unsafeGetTensorImpl()}, tag_(0) {
    if (tensor.defined()) {
      tag_ = tagOf(ValueKind::Tensor, kCounted);
      retain(payload_.target, tag_);
    }
  }
  /// Takes over one reference to `target`.
  ValueWords(c10::intrusive_ptr_target* target, uint64_t tag) noexcept
      : payload_{.target = target}, tag_(tag | kCounted) {}

  ValueWords(const ValueWords& other) noexcept : payload_{.bits = other.payload_.bits} {
    storeTag(other.tag_);
    retain(payload_.target, other.tag_);
  }
  ValueWords(ValueWords&& other) noexcept : payload_{.bits = other.payload_.bits} {
    storeTag(other.tag_);
    other.tag_ = 0;
  }
  ValueWords& operator=(const ValueWords& other) noexcept {
    retain(other.payload_.target, other.tag_);
    replace(other.payload_.bits, other.tag_);
    return *this;
  }
  // The other is emptied before what is held here is let go, so that moving a value into itself keeps it.
  ValueWords& operator=(ValueWords&& other) noexcept {
    const uint64_t tag = other.tag_;
    other.tag_ = 0;
    replace(other.payload_.bits, tag);
    return *this;
  }
  ~ValueWords() { release(payload_.target, tag_); }

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
  /// The same bits: the same number (NaN included) or the same object.
  bool isIdentical(const ValueWords& other) const noexcept {
    return bits() == other.bits() && tag_ == other.tag_;
  }
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
  // A relaxed atomic store is a plain one that compilers do not join with the payload's: through one vector register the two words
  // move slower, since a load right after two stores waits for both (6.1 instead of 2.7 ns for moving a value there and back).
  void storeTag(uint64_t tag) noexcept {
    std::atomic_ref<uint64_t>(tag_).store(tag, std::memory_order_relaxed);
  }
  static void retain(c10::intrusive_ptr_target* target, uint64_t tag) noexcept {
    if ((tag & kCounted) != 0) {
      c10::raw::intrusive_ptr::incref(target);
    }
  }
  static void release(c10::intrusive_ptr_target* target, uint64_t tag) noexcept {
    if ((tag & kCounted) != 0) {
      c10::raw::intrusive_ptr::decref(target);
    }
  }
  // Lets go of the old value last: its destructor may run code that reads this one.
  void replace(uint64_t bits, uint64_t tag) noexcept {
    c10::intrusive_ptr_target* oldTarget = payload_.target;
    const uint64_t oldTag = tag_;
    payload_.bits = bits;
    storeTag(tag);
    release(oldTarget, oldTag);
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
