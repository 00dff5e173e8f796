// Small kernels for tests of their building.
#pragma once

#include <array>
#include <string>

#include "meshfuse/runtime/cpu_kernel.h"

namespace meshfuse {

/// A kernel that writes its number plus `addend`.
inline std::string addingText(int addend) {
  return "#include <cstdint>\n"
         "extern \"C\" __attribute__((visibility(\"default\"))) void meshfuse_kernel(\n"
         "    void* const* pointers, const int64_t*, const void* numbers, int64_t begin, int64_t "
         "end) {\n"
         "  for (int64_t i = begin; i < end; ++i) {\n"
         "    static_cast<double*>(pointers[0])[i] = *static_cast<const double*>(numbers) + " +
         std::to_string(addend) + ";\n  }\n}\n";
}

inline double runAdding(const CpuKernel& kernel, double number) {
  double result = 0;
  const std::array<void*, 1> pointers = {&result};
  kernel.entry()(pointers.data(), nullptr, &number, 0, 1);
  return result;
}

}  // namespace meshfuse
