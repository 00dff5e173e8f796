#include "meshfuse/values/pointer.h"

#include <string>

namespace meshfuse {

void* Pointer::stepped(int64_t elements) const {
  // In bits modulo 2^64: a wrapped product still gives the right byte distance as long as the true one fits an address.
  const uint64_t bits = static_cast<uint64_t>(elements) * pointeeBits_;
  if (bits % 8 != 0) {
    throwUser(ErrorKind::Value,
              {"pointer step", "a step must end on a whole byte",
               std::to_string(elements) + " elements of " + std::to_string(pointeeBits_) + " bits",
               "step by a multiple of 8 bits"});
  }
  const auto bytes = static_cast<uint64_t>(static_cast<int64_t>(bits) / 8);
  // By numbers: stepping a C++ pointer is defined inside an object of this process only, and this may be a device address.
  return reinterpret_cast<void*>(word() + bytes);  // NOLINT(performance-no-int-to-ptr)
}

int64_t Pointer::elementsFrom(const Pointer& origin) const {
  if (pointeeBits_ != origin.pointeeBits_ || pointeeBits_ == 0) {
    throwUser(
        ErrorKind::Type,
        {"pointer difference", "both pointers must have elements of one width",
         std::to_string(pointeeBits_) + " and " + std::to_string(origin.pointeeBits_) + " bits",
         "convert one pointer to the other's element width"});
  }
  const auto bytes = static_cast<int64_t>(word() - origin.word());
  return pointeeBits_ % 8 == 0 ? bytes / (pointeeBits_ / 8) : bytes * 8 / pointeeBits_;
}

}  // namespace meshfuse
