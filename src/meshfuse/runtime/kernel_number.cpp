#include "meshfuse/runtime/kernel_number.h"

namespace meshfuse {

KernelNumber kernelNumber(PrimType type, const Scalar& value) {
  KernelNumber number{};
  switch (categoryOf(type)) {
    case TypeCategory::Boolean:
      number.integer = value.toBool() ? 1 : 0;
      break;
    case TypeCategory::Integral:
      number.integer = value.toInt();
      break;
    case TypeCategory::Complex:
      number.real = value.toComplex().real();
      number.imaginary = value.toComplex().imag();
      break;
    default:
      number.real = value.toDouble();
  }
  return number;
}

}  // namespace meshfuse
