#include "meshfuse/ir/op_descriptor.h"

namespace meshfuse {

bool isSame(const Arg& a, const Arg& b) noexcept {
  if (a.index() != b.index()) {
    return false;
  }
  if (const Scalar* number = std::get_if<Scalar>(&a)) {
    return number->isSame(std::get<Scalar>(b));
  }
  if (const ValId* val = std::get_if<ValId>(&a)) {
    return *val == std::get<ValId>(b);
  }
  if (const Ints* ints = std::get_if<Ints>(&a)) {
    return *ints == std::get<Ints>(b);
  }
  if (const PrimType* type = std::get_if<PrimType>(&a)) {
    return *type == std::get<PrimType>(b);
  }
  if (const Items* items = std::get_if<Items>(&a)) {
    return *items == std::get<Items>(b);
  }
  return true;
}

}  // namespace meshfuse
