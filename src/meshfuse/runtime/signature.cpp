#include "meshfuse/runtime/signature.h"

#include <bit>

#include "meshfuse/base/hash.h"

namespace meshfuse {

namespace {

/// Everything about a tensor but its sizes and strides.
inline uint64_t tensorWord(const ArgView& arg, size_t rank) noexcept {
  const c10::TensorImpl& tensor = *arg.tensor;
  const c10::Device device = tensor.device();
  const auto address = std::bit_cast<uintptr_t>(dataOf(tensor));
  return static_cast<uint64_t>(arg.kind) |
         static_cast<uint64_t>(tensor.dtype().toScalarType()) << 8 |
         static_cast<uint64_t>(static_cast<uint8_t>(device.type())) << 16 |
         static_cast<uint64_t>(static_cast<uint8_t>(device.index())) << 24 |
         static_cast<uint64_t>((address & 15) == 0) << 32 |
         static_cast<uint64_t>(arg.isDistributed()) << 33 | static_cast<uint64_t>(rank) << 40;
}

/// Gives every word of the signature to `take` until it returns false; returns whether all were taken.
template <class Take>
inline bool visitWords(std::span<const ArgView> args, const CallContext& context,
                       std::span<const uint8_t> valueMatters, Take take) {
  const auto takeAll = [&take](const int64_t* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!take(static_cast<uint64_t>(values[i]))) {
        return false;
      }
    }
    return true;
  };
  if (!take(args.size() << 1 | uint64_t{context.dispatchAll} |
            static_cast<uint64_t>(context.rank) << 32) ||
      !take(context.binding)) {
    return false;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgView& arg = args[i];
    if (!arg.isTensor()) {
      if (!take(static_cast<uint64_t>(arg.kind)) ||
          (valueMatters[i] != 0 && !take(static_cast<uint64_t>(arg.integer)))) {
        return false;
      }
      continue;
    }
    const c10::IntArrayRef sizes = arg.tensor->sizes();
    if (!take(tensorWord(arg, sizes.size())) || !takeAll(sizes.data(), sizes.size()) ||
        !takeAll(arg.tensor->strides().data(), sizes.size())) {
      return false;
    }
    if (arg.isDistributed() &&
        (!take(arg.sharding.value()) || !takeAll(arg.globalSizes, sizes.size()) ||
         !takeAll(arg.globalStrides, sizes.size()))) {
      return false;
    }
  }
  return true;
}

}  // namespace

Signature::Signature(std::span<const ArgView> args, const CallContext& context,
                     std::span<const uint8_t> valueMatters)
    : hash_(hashOf(args, context, valueMatters)) {
  visitWords(args, context, valueMatters, [this](uint64_t word) {
    words_.push_back(word);
    return true;
  });
}

bool Signature::matches(std::span<const ArgView> args, const CallContext& context,
                        std::span<const uint8_t> valueMatters) const noexcept {
  // The words of a call say how many follow, so equal words so far never run past the end.
  const uint64_t* expected = words_.data();
  return visitWords(args, context, valueMatters,
                    [&expected](uint64_t word) { return word == *expected++; });
}

uint64_t Signature::hashOf(std::span<const ArgView> args, const CallContext& context,
                           std::span<const uint8_t> valueMatters) noexcept {
  uint64_t hash = 0;
  visitWords(args, context, valueMatters, [&hash](uint64_t word) {
    hash = hashMix(hash, word);
    return true;
  });
  return hash;
}

}  // namespace meshfuse
