// One argument of a call as the hot path sees it: not owned, nothing copied.
#pragma once

#include <complex>
#include <cstdint>

#include <c10/core/TensorImpl.h>

#include "meshfuse/mesh/sharding.h"
#include "meshfuse/types/scalar.h"

namespace meshfuse {

/// Where a strided tensor's first element is; null for tensors without memory. Never makes a lazy copy real.
inline const void* dataOf(const c10::TensorImpl& tensor) noexcept {
  const c10::StorageImpl* storage = tensor.unsafe_storage().unsafeGetStorageImpl();
  const void* base = storage == nullptr ? nullptr : storage->data();
  return base == nullptr
             ? nullptr
             : static_cast<const char*>(base) +
                   tensor.storage_offset() * static_cast<int64_t>(tensor.dtype().itemsize());
}

enum class ArgKind : uint8_t { Tensor, Bool, Int, Double, Complex };

/// A tensor or a number. The caller keeps the tensor, and the arrays of global sizes and strides, alive during the call.
struct ArgView {
  ArgKind kind = ArgKind::Tensor;
  /// The tensor was made from the caller's, which it stands for in reading: writing to it would not reach that.
  bool isResolvedCopy = false;
  ShardingId sharding;  // none for plain tensors and numbers
  union {
    c10::TensorImpl* tensor;  // the local tensor of a distributed one
    bool boolean;
    int64_t integer;
    double real;
  };
  double imaginary = 0;
  /// The global tensor's sizes and strides, one entry a dimension of `tensor`; null for plain tensors and numbers.
  const int64_t* globalSizes = nullptr;
  const int64_t* globalStrides = nullptr;

  ArgView() noexcept : tensor(nullptr) {}
  static ArgView of(c10::TensorImpl* tensor) noexcept {
    ArgView view;
    view.tensor = tensor;
    return view;
  }
  static ArgView of(c10::TensorImpl* local, ShardingId sharding, const int64_t* globalSizes,
                    const int64_t* globalStrides) noexcept {
    ArgView view = of(local);
    view.sharding = sharding;
    view.globalSizes = globalSizes;
    view.globalStrides = globalStrides;
    return view;
  }
  static ArgView of(bool value) noexcept {
    ArgView view;
    view.kind = ArgKind::Bool;
    view.integer = 0;
    view.boolean = value;
    return view;
  }
  static ArgView of(int64_t value) noexcept {
    ArgView view;
    view.kind = ArgKind::Int;
    view.integer = value;
    return view;
  }
  static ArgView of(double value) noexcept {
    ArgView view;
    view.kind = ArgKind::Double;
    view.real = value;
    return view;
  }
  static ArgView of(std::complex<double> value) noexcept {
    ArgView view = of(value.real());
    view.kind = ArgKind::Complex;
    view.imaginary = value.imag();
    return view;
  }

  bool isTensor() const noexcept { return kind == ArgKind::Tensor; }
  bool isDistributed() const noexcept { return static_cast<bool>(sharding); }
  /// The number; the argument is not a tensor.
  Scalar scalar() const noexcept {
    switch (kind) {
      case ArgKind::Bool:
        return boolean;
      case ArgKind::Int:
        return integer;
      case ArgKind::Double:
        return real;
      default:
        return std::complex<double>(real, imaginary);
    }
  }
  /// Sizes of the whole tensor: global ones for a distributed tensor.
  c10::IntArrayRef sizes() const {
    return globalSizes == nullptr
               ? tensor->sizes()
               : c10::IntArrayRef(globalSizes, static_cast<size_t>(tensor->dim()));
  }
};

}  // namespace meshfuse
