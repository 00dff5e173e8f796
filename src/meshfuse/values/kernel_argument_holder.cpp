#include "meshfuse/values/kernel_argument_holder.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"
#include "meshfuse/base/text.h"
#include "meshfuse/mesh/shard_arithmetic.h"
#include "meshfuse/values/argument_bytes.h"
#include "meshfuse/values/conversions.h"
#include "meshfuse/values/torch_types.h"
#include "meshfuse/values/value_types.h"

namespace meshfuse {
namespace {

/// Half of the signed range: the other half is room for indices that step past the end before they are tested.
constexpr int64_t kLargest32BitIndex = std::numeric_limits<int32_t>::max() / 2;

/// Whether the last element of a tensor lies further than a 32-bit index is trusted with.
bool needs64Bits(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t reach = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      return false;
    }
    int64_t step = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
        __builtin_add_overflow(reach, step, &reach)) {
      return true;
    }
  }
  return reach > kLargest32BitIndex;
}

/// The first rank holds the largest part of every dimension, so its reach stands for all ranks.
bool needs64Bits(const DistributedTensor& tensor) {
  const at::Tensor& local = tensor.local();
  if (!tensor.isBoxed()) {
    return needs64Bits(local.sizes(), local.strides());
  }
  const c10::DimVector sizes = tensor.sizes();
  const std::vector<int64_t> first(static_cast<size_t>(tensor.mesh().ndim()), 0);
  const std::vector<int64_t> largest = localSizes(*tensor.sharding(), sizes, first);
  return needs64Bits(largest, localStrides(sizes, tensor.strides(), largest));
}

/// The tensor whose memory an argument has; null if it has none.
const at::Tensor* tensorOf(const PolymorphicValue& value) noexcept {
  if (value.is<at::Tensor>()) {
    return &value.tensorUnchecked();
  }
  return value.is<DistributedTensor>() ? &value.distributedUnchecked().local() : nullptr;
}

c10::Device joined(c10::Device a, c10::Device b) {
  if (a == b) {
    return a;
  }
  if (a.type() == b.type()) {
    return {a.type(), -1};
  }
  throwUser(ErrorKind::Value,
            {"common device", "all tensors must lie on devices of one type",
             "tensors on " + a.str() + " and " + b.str(), "move them to one device first"});
}

}  // namespace

KernelArgumentHolder KernelArgumentHolder::clone() const {
  KernelArgumentHolder copy;
  copy.arguments_ = arguments_;
  copy.cacheId_ = cacheId_;
  return copy;
}

void KernelArgumentHolder::push(const std::optional<at::Tensor>& tensor) {
  if (!tensor.has_value() || !tensor->defined()) {
    throwUser(ErrorKind::Value, {"KernelArgumentHolder.push", "an optional tensor must be present",
                                 "an absent tensor as argument " + std::to_string(size()),
                                 "leave the argument out, or pass a tensor"});
  }
  push(*tensor);
}

void KernelArgumentHolder::push(const c10::IValue& value) { push(IValueToPolymorphicValue(value)); }

void KernelArgumentHolder::push(KernelArgumentHolder&& other) {
  if (&other == this) {
    push(static_cast<const KernelArgumentHolder&>(other));
    return;
  }
  arguments_.insert(arguments_.end(), std::make_move_iterator(other.begin()),
                    std::make_move_iterator(other.end()));
  other.clear();
}

void KernelArgumentHolder::push(const KernelArgumentHolder& other) {
  const size_t count = other.size();
  reserve(size() + count);
  for (size_t i = 0; i < count; ++i) {
    arguments_.push_back(other.arguments_[i]);
  }
}

void KernelArgumentHolder::pushMetaTensor(std::span<const int64_t> sizes,
                                          std::span<const int64_t> strides, PrimType type) {
  if (sizes.size() != strides.size()) {
    throwUser(ErrorKind::Value,
              {"KernelArgumentHolder.pushMetaTensor", "sizes and strides must be of one length",
               "sizes " + toText(sizes) + " and strides " + toText(strides),
               "pass one stride for each size"});
  }
  push(at::empty_strided(c10::IntArrayRef(sizes.data(), sizes.size()),
                         c10::IntArrayRef(strides.data(), strides.size()),
                         at::TensorOptions().device(c10::kMeta).dtype(torchDtype(type))));
}

const PolymorphicValue& KernelArgumentHolder::back() const {
  checkIndex(size() - 1);
  return arguments_.back();
}

PolymorphicValue& KernelArgumentHolder::back() {
  checkIndex(size() - 1);
  return arguments_.back();
}

void KernelArgumentHolder::erase(const PolymorphicValue* argument) {
  const PolymorphicValue* first = arguments_.data();
  // Compared as integers: the address may belong to another array.
  const auto begin = reinterpret_cast<uintptr_t>(first);
  const auto where = reinterpret_cast<uintptr_t>(argument);
  if (where < begin || where >= begin + size() * sizeof(PolymorphicValue)) {
    throwUser(ErrorKind::Index,
              {"KernelArgumentHolder.erase", "the address must be that of an argument",
               "an address outside the " + std::to_string(size()) + " arguments",
               "pass the address of an element of this holder"});
  }
  arguments_.erase(arguments_.begin() +
                   static_cast<std::ptrdiff_t>((where - begin) / sizeof(PolymorphicValue)));
}

c10::Device KernelArgumentHolder::commonDevice(c10::Device fallback) const {
  std::optional<c10::Device> common;
  bool anyCpuScalar = false;
  for (const PolymorphicValue& argument : arguments_) {
    const at::Tensor* tensor = tensorOf(argument);
    if (tensor == nullptr) {
      continue;
    }
    if (tensor->device().is_cpu() && tensor->dim() == 0) {
      anyCpuScalar = true;
      continue;
    }
    common = common ? joined(*common, tensor->device()) : tensor->device();
  }
  if (common) {
    return *common;
  }
  return anyCpuScalar ? c10::Device(c10::kCPU) : fallback;
}

PrimType KernelArgumentHolder::indexType() const {
  const bool wide = std::ranges::any_of(arguments_, [](const PolymorphicValue& argument) {
    if (argument.is<at::Tensor>()) {
      return needs64Bits(argument.tensorUnchecked().sizes(), argument.tensorUnchecked().strides());
    }
    return argument.is<DistributedTensor>() && needs64Bits(argument.distributedUnchecked());
  });
  return wide ? PrimType::Int : PrimType::Int32;
}

int64_t KernelArgumentHolder::storageBytes() const {
  std::unordered_set<const c10::StorageImpl*> seen;
  int64_t bytes = 0;
  for (const PolymorphicValue& argument : arguments_) {
    const at::Tensor* tensor = tensorOf(argument);
    if (tensor != nullptr && tensor->has_storage() &&
        seen.insert(tensor->storage().unsafeGetStorageImpl()).second) {
      bytes += static_cast<int64_t>(tensor->storage().nbytes());
    }
  }
  return bytes;
}

std::vector<std::vector<std::byte>> KernelArgumentHolder::toBytes(PrimType indexType) const {
  std::vector<std::vector<std::byte>> image;
  image.reserve(size());
  for (const PolymorphicValue& argument : arguments_) {
    image.push_back(argumentBytes(argument, dataTypeOf(argument), indexType));
  }
  return image;
}

void KernelArgumentHolder::throwIndex(size_t index) const {
  if (empty()) {
    throwUser(ErrorKind::Index, {"KernelArgumentHolder", "the position must be that of an argument",
                                 "an element of an empty holder", "push an argument first"});
  }
  throwUser(ErrorKind::Index,
            {"KernelArgumentHolder", "the position must be that of an argument",
             std::to_string(index) + " for " + std::to_string(size()) + " arguments",
             "use 0 to " + std::to_string(size() - 1)});
}

}  // namespace meshfuse
