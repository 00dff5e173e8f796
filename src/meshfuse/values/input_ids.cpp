#include "meshfuse/values/input_ids.h"

#include <algorithm>

#include <ATen/core/Tensor.h>

#include "meshfuse/base/error.h"

namespace meshfuse {
namespace {

void append(std::string& key, uint64_t word) {
  key.append(reinterpret_cast<const char*>(&word), sizeof(word));
}

void appendInts(std::string& key, c10::IntArrayRef values) {
  append(key, values.size());
  for (const int64_t value : values) {
    append(key, static_cast<uint64_t>(value));
  }
}

/// The largest power of two up to 16 that divides the data's address.
uint64_t alignmentOf(const at::Tensor& tensor) {
  constexpr uint64_t kLargest = 16;
  if (tensor.is_meta()) {
    return kLargest;
  }
  const auto address = reinterpret_cast<uint64_t>(tensor.const_data_ptr()) | kLargest;
  return address & (~address + 1);
}

void appendTensor(std::string& key, const at::Tensor& tensor) {
  append(key, static_cast<uint64_t>(tensor.scalar_type()));
  append(key, static_cast<uint64_t>(static_cast<uint8_t>(tensor.device().type())) << 8 |
                  static_cast<uint8_t>(tensor.device().index()));
  append(key, alignmentOf(tensor));
  appendInts(key, tensor.sizes());
  appendInts(key, tensor.strides());
}

void appendPlainValue(std::string& key, const PolymorphicValue& value) {
  switch (value.kind()) {
    case ValueKind::Bool:
      return append(key, value.as<bool>() ? 1 : 0);
    case ValueKind::Int:
      return append(key, static_cast<uint64_t>(value.as<int64_t>()));
    case ValueKind::Double:
      return append(key, std::bit_cast<uint64_t>(value.as<double>()));
    case ValueKind::Complex:
      append(key, std::bit_cast<uint64_t>(value.as<std::complex<double>>().real()));
      return append(key, std::bit_cast<uint64_t>(value.as<std::complex<double>>().imag()));
    default:
      return;
  }
}

void appendArgument(std::string& key, const PolymorphicValue& value, bool byValue) {
  append(key, static_cast<uint64_t>(value.kind()));
  switch (value.kind()) {
    case ValueKind::Tensor:
      return appendTensor(key, value.tensorUnchecked());
    case ValueKind::DistributedTensor: {
      const DistributedTensor& tensor = value.distributedUnchecked();
      append(key, tensor.sharding().value());
      appendInts(key, tensor.sizes());
      appendInts(key, tensor.strides());
      return appendTensor(key, tensor.local());
    }
    case ValueKind::Vector:
      append(key, value.as<PolymorphicValue::Values>().size());
      for (const PolymorphicValue& element : value.as<PolymorphicValue::Values>()) {
        appendArgument(key, element, byValue);
      }
      return;
    default:
      if (byValue) {
        appendPlainValue(key, value);
      }
  }
}

}  // namespace

InputIds::InputIds(size_t capacity) : capacity_(capacity) {
  if (capacity == 0) {
    throwUser(ErrorKind::Value,
              {"InputIds", "the capacity must be positive", "0", "pass at least 1"});
  }
}

InputIds::Lookup InputIds::lookup(const KernelArgumentHolder& arguments,
                                  std::span<const size_t> byValue) {
  for (const size_t position : byValue) {
    static_cast<void>(arguments[position]);
  }
  key_.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    appendArgument(key_, arguments[i], std::ranges::find(byValue, i) != byValue.end());
  }
  const auto found = entries_.find(key_);
  if (found != entries_.end()) {
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return {found->second.id, std::nullopt};
  }
  Lookup result{nextId_++, std::nullopt};
  if (entries_.size() == capacity_) {
    const auto oldest = entries_.find(*uses_.back());
    result.evicted = oldest->second.id;
    uses_.pop_back();
    entries_.erase(oldest);
  }
  const auto entry = entries_.emplace(key_, Entry{result.id, uses_.end()}).first;
  uses_.push_front(&entry->first);
  entry->second.use = uses_.begin();
  return result;
}

}  // namespace meshfuse
