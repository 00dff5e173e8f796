// One value of any kind that a fusion takes or gives: a number, a tensor, a distributed tensor, a pointer, a struct, a vector.
#pragma once

#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "meshfuse/types/scalar.h"
#include "meshfuse/values/distributed_tensor.h"
#include "meshfuse/values/opaque.h"
#include "meshfuse/values/pointer.h"
#include "meshfuse/values/struct_handle.h"
#include "meshfuse/values/value_words.h"

namespace meshfuse {

class PolymorphicValue;
class ComplexBox;
class VectorBox;

/// The kind that holds a T; `kKindOf<T>` is defined for exactly the member types.
template <class T>
struct KindOf;
template <>
struct KindOf<bool> {
  static constexpr ValueKind value = ValueKind::Bool;
};
template <>
struct KindOf<int64_t> {
  static constexpr ValueKind value = ValueKind::Int;
};
template <>
struct KindOf<double> {
  static constexpr ValueKind value = ValueKind::Double;
};
template <>
struct KindOf<std::complex<double>> {
  static constexpr ValueKind value = ValueKind::Complex;
};
template <>
struct KindOf<at::Tensor> {
  static constexpr ValueKind value = ValueKind::Tensor;
};
template <>
struct KindOf<DistributedTensor> {
  static constexpr ValueKind value = ValueKind::DistributedTensor;
};
template <>
struct KindOf<Pointer> {
  static constexpr ValueKind value = ValueKind::Pointer;
};
template <>
struct KindOf<Opaque> {
  static constexpr ValueKind value = ValueKind::Opaque;
};
template <>
struct KindOf<StructHandle> {
  static constexpr ValueKind value = ValueKind::Struct;
};
template <>
struct KindOf<std::vector<PolymorphicValue>> {
  static constexpr ValueKind value = ValueKind::Vector;
};

/// The types a PolymorphicValue can hold.
template <class T>
concept ValueMember = requires { KindOf<T>::value; };

/// What `as<T>` gives: a reference, but a Pointer by value.
template <ValueMember T>
using MemberReference = std::conditional_t<std::same_as<T, Pointer>, Pointer, const T&>;
/// The same for a value that can be changed: numbers and vectors are changed in place, everything else is replaced whole.
template <ValueMember T>
using MutableMemberReference =
    std::conditional_t<std::is_arithmetic_v<T> || std::same_as<T, std::complex<double>> ||
                           std::same_as<T, std::vector<PolymorphicValue>>,
                       T&, MemberReference<T>>;

/// Sixteen bytes. Scalars and pointers are inline; every other kind is one counted reference. Copying shares: a tensor, a struct
/// or an opaque value is the same object in both copies, a vector is a value of its own that is copied when it is changed.
/// Moving costs two words and leaves None behind. Not synchronized, as any plain value.
class PolymorphicValue {
 public:
  using Kind = ValueKind;
  using Values = std::vector<PolymorphicValue>;

  PolymorphicValue() noexcept : words_() {}
  // NOLINTBEGIN(google-explicit-constructor): a value is written wherever one is expected
  PolymorphicValue(bool v) noexcept : words_(uint64_t{v}, ValueWords::tagOf(Kind::Bool)) {}
  PolymorphicValue(int v) noexcept : PolymorphicValue(int64_t{v}) {}
  PolymorphicValue(int64_t v) noexcept
      : words_(static_cast<uint64_t>(v), ValueWords::tagOf(Kind::Int)) {}
  PolymorphicValue(double v) noexcept
      : words_(std::bit_cast<uint64_t>(v), ValueWords::tagOf(Kind::Double)) {}
  PolymorphicValue(std::complex<double> v);
  /// Null when the tensor is undefined.
  PolymorphicValue(const at::Tensor& v) noexcept : words_(v) {}
  PolymorphicValue(at::Tensor&& v) noexcept
      : words_(v.defined()
                   ? ValueWords(v.unsafeReleaseTensorImpl(), ValueWords::tagOf(Kind::Tensor))
                   : ValueWords()) {}
  PolymorphicValue(const DistributedTensor& v) noexcept : words_(v.words_) {}
  PolymorphicValue(DistributedTensor&& v) noexcept : words_(std::move(v.words_)) {}
  PolymorphicValue(Pointer v) noexcept
      : words_(std::bit_cast<uint64_t>(v.address()),
               ValueWords::tagOf(Kind::Pointer, 0, v.pointeeBits())) {}
  PolymorphicValue(Opaque v) noexcept : words_(v.release(), ValueWords::tagOf(Kind::Opaque)) {}
  /// Null when the handle holds nothing.
  PolymorphicValue(StructHandle v) noexcept
      : words_(v ? ValueWords(v.release(), ValueWords::tagOf(Kind::Struct)) : ValueWords()) {}
  PolymorphicValue(Values v);
  PolymorphicValue(const Scalar& v);
  /// A vector of anything a value can be made of, nested as deep as wanted.
  template <class T>
    requires(!std::same_as<T, PolymorphicValue> &&
             std::constructible_from<PolymorphicValue, const T&>)
  PolymorphicValue(const std::vector<T>& elements)
      : PolymorphicValue(Values(elements.begin(), elements.end())) {}
  // NOLINTEND(google-explicit-constructor)
  /// Would silently become a bool; wrap addresses in Pointer.
  template <class T>
  PolymorphicValue(T*) = delete;

  PolymorphicValue(const PolymorphicValue& other) noexcept : words_(other.words_) {}
  PolymorphicValue(PolymorphicValue&& other) noexcept : words_(std::move(other.words_)) {}
  PolymorphicValue& operator=(const PolymorphicValue& other) noexcept {
    words_ = other.words_;
    return *this;
  }
  PolymorphicValue& operator=(PolymorphicValue&& other) noexcept {
    words_ = std::move(other.words_);
    return *this;
  }
  ~PolymorphicValue() { words_.~ValueWords(); }

  void swap(PolymorphicValue& other) noexcept { words_.swap(other.words_); }
  friend void swap(PolymorphicValue& a, PolymorphicValue& b) noexcept { a.swap(b); }

  /// The same number (NaN included) or the same object; a quick yes, where a no may still be equal.
  bool isIdentical(const PolymorphicValue& other) const noexcept {
    return words_.isIdentical(other.words_) || (isNull() && other.isNull());
  }

  Kind kind() const noexcept { return words_.kind(); }
  bool hasValue() const noexcept { return kind() != Kind::None; }
  bool isNull() const noexcept { return kind() == Kind::None; }

  /// Whether a T is held. `T` is bool, int64_t, double, std::complex<double>, at::Tensor, DistributedTensor, Pointer, Opaque,
  /// StructHandle or std::vector<PolymorphicValue>; another type does not compile.
  template <ValueMember T>
  bool is() const noexcept {
    return kind() == KindOf<T>::value;
  }

  /// The held T: a reference into this value (a Pointer by value). Throws UserError(Type) naming both kinds if another is held.
  template <ValueMember T>
  MemberReference<T> as() const& {
    check<T>();
    return get<T>();
  }
  /// As above; numbers and vectors can be changed in place, and a vector shared with another value is copied first.
  template <ValueMember T>
  MutableMemberReference<T> as() & {
    check<T>();
    return getMutable<T>();
  }
  /// Takes the held T out, leaving None. Tensors and distributed tensors come out without touching a reference count.
  template <ValueMember T>
  T as() && {
    check<T>();
    return take<T>();
  }

  const at::Tensor& asTensor() const& { return as<at::Tensor>(); }
  at::Tensor asTensor() && { return std::move(*this).as<at::Tensor>(); }
  /// Takes the tensor out without touching its reference count, leaving None.
  at::Tensor takeTensor() && { return std::move(*this).as<at::Tensor>(); }
  /// The tensor of a value whose kind the caller has already tested to be Tensor.
  const at::Tensor& tensorUnchecked() const noexcept { return words_.tensor(); }
  /// The distributed tensor of a value whose kind the caller has already tested to be DistributedTensor.
  const DistributedTensor& distributedUnchecked() const noexcept { return distributed_; }

  /// The value converted to T as C++ converts the held one: bool, int, int64_t, double, std::complex<double>, a member type, or
  /// a std::vector of such. Throws UserError(Type) where there is no such conversion.
  template <class T>
  T to() const;
  /// Not to bool: `a && b` stays an operation on values, and `if (value)` must say what it asks (hasValue, to<bool>, !).
  template <class T>
    requires((std::is_arithmetic_v<T> && !std::same_as<T, bool>) ||
             std::same_as<T, std::complex<double>>)
  explicit operator T() const {
    return to<T>();
  }

  /// Element of a vector by position; throws UserError(Type) for other kinds, UserError(Index) outside the vector.
  const PolymorphicValue& operator[](int64_t index) const;
  PolymorphicValue& operator[](int64_t index);
  /// The position may be a value too; it must be an Int or a Bool.
  const PolymorphicValue& operator[](const PolymorphicValue& index) const;
  PolymorphicValue& operator[](const PolymorphicValue& index);
  const PolymorphicValue& operator[](int index) const { return (*this)[int64_t{index}]; }
  PolymorphicValue& operator[](int index) { return (*this)[int64_t{index}]; }

  /// The fields of a held struct; throws UserError(Type) for other kinds.
  StructValue& operator*() const;
  StructValue* operator->() const { return &**this; }

 private:
  template <ValueMember T>
  void check() const {
    if (!is<T>()) [[unlikely]] {
      throwWrongKind(KindOf<T>::value);
    }
  }
  [[noreturn]] void throwWrongKind(Kind asked) const;

  template <ValueMember T>
  MemberReference<T> get() const noexcept;
  template <ValueMember T>
  MutableMemberReference<T> getMutable();
  template <ValueMember T>
  T take() noexcept(!std::same_as<T, Values>);
  Values& uniqueVector();
  std::complex<double>& uniqueComplex();

  // One storage, seen as words or as the distributed tensor that has the same words, so that a reference can be given to it.
  union {
    ValueWords words_;
    DistributedTensor distributed_;
  };
};

static_assert(sizeof(PolymorphicValue) == 16 && alignof(PolymorphicValue) == 8);
static_assert(std::is_nothrow_move_constructible_v<PolymorphicValue>);
static_assert(std::is_nothrow_move_assignable_v<PolymorphicValue>);

/// A boxed complex number.
class ComplexBox final : public c10::intrusive_ptr_target {
 public:
  explicit ComplexBox(std::complex<double> v) noexcept : value(v) {}
  std::complex<double> value;
};

/// A boxed vector; shared by copies of a value until one of them changes it.
class VectorBox final : public c10::intrusive_ptr_target {
 public:
  explicit VectorBox(PolymorphicValue::Values v) noexcept : values(std::move(v)) {}
  PolymorphicValue::Values values;
};

/// The kind's name, `Int`, `DistributedTensor`.
std::string_view nameOf(ValueKind kind) noexcept;

template <ValueMember T>
MemberReference<T> PolymorphicValue::get() const noexcept {
  if constexpr (std::same_as<T, bool>) {
    return words_.boolean();
  } else if constexpr (std::same_as<T, int64_t>) {
    return words_.integer();
  } else if constexpr (std::same_as<T, double>) {
    return words_.real();
  } else if constexpr (std::same_as<T, std::complex<double>>) {
    return static_cast<const ComplexBox*>(words_.target())->value;
  } else if constexpr (std::same_as<T, at::Tensor>) {
    return words_.tensor();
  } else if constexpr (std::same_as<T, DistributedTensor>) {
    return distributed_;
  } else if constexpr (std::same_as<T, Pointer>) {
    return Pointer(words_.address(), words_.aux());
  } else if constexpr (std::same_as<T, Opaque>) {
    return words_.opaque();
  } else if constexpr (std::same_as<T, StructHandle>) {
    return words_.structure();
  } else {
    return static_cast<const VectorBox*>(words_.target())->values;
  }
}

template <ValueMember T>
MutableMemberReference<T> PolymorphicValue::getMutable() {
  if constexpr (std::same_as<T, bool>) {
    return words_.boolean();
  } else if constexpr (std::same_as<T, int64_t>) {
    return words_.integer();
  } else if constexpr (std::same_as<T, double>) {
    return words_.real();
  } else if constexpr (std::same_as<T, std::complex<double>>) {
    return uniqueComplex();
  } else if constexpr (std::same_as<T, Values>) {
    return uniqueVector();
  } else {
    return get<T>();
  }
}

template <ValueMember T>
T PolymorphicValue::take() noexcept(!std::same_as<T, Values>) {
  if constexpr (std::same_as<T, at::Tensor>) {
    return words_.takeTensor();
  } else if constexpr (std::same_as<T, DistributedTensor>) {
    return DistributedTensor(std::move(words_));
  } else if constexpr (std::same_as<T, Opaque> || std::same_as<T, StructHandle>) {
    return T(c10::intrusive_ptr<c10::intrusive_ptr_target>::reclaim(words_.releaseTarget()));
  } else if constexpr (std::same_as<T, Values>) {
    PolymorphicValue owner(std::move(*this));
    auto* box = static_cast<VectorBox*>(owner.words_.target());
    return isOnlyOwner(box) ? std::move(box->values) : box->values;
  } else {
    T value = get<T>();
    *this = PolymorphicValue();
    return value;
  }
}

namespace detail {
[[noreturn]] void throwNotConvertible(const PolymorphicValue& value, std::string_view wanted);
int64_t toInteger(const PolymorphicValue& value);
double toReal(const PolymorphicValue& value);
bool toBoolean(const PolymorphicValue& value);
std::complex<double> toComplex(const PolymorphicValue& value);

template <class T>
struct VectorElement : std::false_type {};
template <class T>
struct VectorElement<std::vector<T>> : std::true_type {
  using type = T;
};
}  // namespace detail

template <class T>
T PolymorphicValue::to() const {
  if constexpr (std::same_as<T, PolymorphicValue>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    return detail::toBoolean(*this);
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(detail::toInteger(*this));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(detail::toReal(*this));
  } else if constexpr (std::same_as<T, std::complex<double>>) {
    return detail::toComplex(*this);
  } else if constexpr (ValueMember<T>) {
    if (!is<T>()) {
      detail::throwNotConvertible(*this, nameOf(KindOf<T>::value));
    }
    return get<T>();
  } else {
    static_assert(detail::VectorElement<T>::value,
                  "no member of PolymorphicValue converts to this type");
    if (!is<Values>()) {
      detail::throwNotConvertible(*this, "vector");
    }
    T out;
    for (const PolymorphicValue& element : get<Values>()) {
      out.push_back(element.to<typename detail::VectorElement<T>::type>());
    }
    return out;
  }
}

}  // namespace meshfuse
