// The ordered arguments, or results, of one run.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <c10/core/Device.h>
#include <c10/util/ArrayRef.h>

#include "meshfuse/types/data_type.h"
#include "meshfuse/values/polymorphic_value.h"

namespace c10 {
struct IValue;
}

namespace meshfuse {

/// An ordered list of values, and the id under which the caller caches what belongs to them. Moving is cheap and is the only way
/// to pass one on; `clone` copies.
class KernelArgumentHolder {
 public:
  using iterator = std::vector<PolymorphicValue>::iterator;
  using const_iterator = std::vector<PolymorphicValue>::const_iterator;

  KernelArgumentHolder() noexcept = default;
  /// Any mix of what `push` takes, in order: `KernelArgumentHolder(tensor, 2, 0.5)`.
  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, KernelArgumentHolder> || sizeof...(Rest) > 0)
  explicit KernelArgumentHolder(First&& first, Rest&&... rest) {
    reserve(1 + sizeof...(Rest));
    push(std::forward<First>(first));
    (push(std::forward<Rest>(rest)), ...);
  }

  KernelArgumentHolder(KernelArgumentHolder&&) noexcept = default;
  KernelArgumentHolder& operator=(KernelArgumentHolder&&) noexcept = default;
  KernelArgumentHolder(const KernelArgumentHolder&) = delete;
  KernelArgumentHolder& operator=(const KernelArgumentHolder&) = delete;
  ~KernelArgumentHolder() = default;
  KernelArgumentHolder clone() const;

  /// Appends one value. A vector stays one argument; use `pushAll` to append its elements.
  void push(PolymorphicValue&& value) { arguments_.push_back(std::move(value)); }
  void push(const PolymorphicValue& value) { arguments_.push_back(value); }
  template <class T>
    requires(std::constructible_from<PolymorphicValue, T&&> &&
             !std::same_as<std::remove_cvref_t<T>, PolymorphicValue>)
  void push(T&& value) {
    arguments_.emplace_back(std::forward<T>(value));
  }
  /// Throws UserError(Value) for an absent tensor.
  void push(const std::optional<at::Tensor>& tensor);
  void push(const c10::IValue& value);
  /// Appends another holder's arguments one by one.
  void push(KernelArgumentHolder&& other);
  void push(const KernelArgumentHolder& other);
  template <class Range>
  void pushAll(const Range& values) {
    reserve(arguments_.size() + std::size(values));
    for (const auto& value : values) {
      push(value);
    }
  }
  /// Appends a meta tensor of these sizes and strides (in elements): a stand-in that has no memory. Throws UserError(Value) when
  /// their lengths differ.
  void pushMetaTensor(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                      PrimType type);

  size_t size() const noexcept { return arguments_.size(); }
  bool empty() const noexcept { return arguments_.empty(); }
  void reserve(size_t count) { arguments_.reserve(count); }
  /// New arguments are None.
  void resize(size_t count) { arguments_.resize(count); }
  void clear() noexcept { arguments_.clear(); }

  /// Range-checked: throws UserError(Index).
  const PolymorphicValue& operator[](size_t index) const {
    checkIndex(index);
    return arguments_[index];
  }
  PolymorphicValue& operator[](size_t index) {
    checkIndex(index);
    return arguments_[index];
  }
  const PolymorphicValue& at(size_t index) const { return (*this)[index]; }
  PolymorphicValue& at(size_t index) { return (*this)[index]; }
  /// The last argument; throws UserError(Index) when there is none.
  const PolymorphicValue& back() const;
  PolymorphicValue& back();

  iterator begin() noexcept { return arguments_.begin(); }
  iterator end() noexcept { return arguments_.end(); }
  const_iterator begin() const noexcept { return arguments_.begin(); }
  const_iterator end() const noexcept { return arguments_.end(); }
  auto rbegin() const noexcept { return arguments_.rbegin(); }
  auto rend() const noexcept { return arguments_.rend(); }
  std::span<const PolymorphicValue> values() const noexcept { return arguments_; }

  /// Removes the argument at this address, and no equal one elsewhere; throws UserError(Index) if the address is not in the holder.
  void erase(const PolymorphicValue* argument);

  /// The device of all tensors (of their local parts, for distributed ones). Zero-dimensional CPU tensors beside others do not
  /// count; CUDA tensors with different indices give index -1; without tensors it is `fallback`. Throws UserError(Value) naming both
  /// when tensors lie on devices of different types.
  c10::Device commonDevice(c10::Device fallback = c10::kCPU) const;

  /// Int32 if every tensor's elements can be reached with 32-bit indices (with room for a step past the end), else Int. For a
  /// distributed tensor the answer is the same on every rank.
  PrimType indexType() const;

  /// Bytes of the storages behind all tensors, whole storages, each counted once.
  int64_t storageBytes() const;

  /// The arguments' bytes as a kernel reads them, one vector an argument; `indexType` is Int or Int32 (argument_bytes.h).
  std::vector<std::vector<std::byte>> toBytes(PrimType indexType) const;

  void setCacheId(size_t id) noexcept { cacheId_ = id; }
  /// Absent until set.
  std::optional<size_t> cacheId() const noexcept { return cacheId_; }

 private:
  void checkIndex(size_t index) const {
    if (index >= arguments_.size()) [[unlikely]] {
      throwIndex(index);
    }
  }
  [[noreturn]] void throwIndex(size_t index) const;

  std::vector<PolymorphicValue> arguments_;
  std::optional<size_t> cacheId_;
};

}  // namespace meshfuse
