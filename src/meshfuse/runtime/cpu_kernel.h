// A compiled CPU kernel: a function in a shared object that stays loaded as long as the kernel is held.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "meshfuse/runtime/content_hash.h"

namespace meshfuse {

/// What generated text exports as `meshfuse_kernel`: runs the parallel iterations [begin, end). All addresses, strides and
/// numbers come through the tables.
using CpuKernelFunction = void (*)(void* const* pointers, const int64_t* integers,
                                   const void* numbers, int64_t begin, int64_t end);

/// The name of that function.
inline constexpr const char* kCpuKernelSymbol = "meshfuse_kernel";

/// A loaded kernel. Immutable; two with one identity are the same object as long as either is held.
class CpuKernel {
 public:
  /// Loads a shared object. Null, with the reason in `failure`, where it cannot be loaded or lacks the function.
  static std::shared_ptr<const CpuKernel> open(const std::string& path, const ContentHash& identity,
                                               std::string& failure);
  CpuKernel(const CpuKernel&) = delete;
  CpuKernel& operator=(const CpuKernel&) = delete;
  ~CpuKernel();

  CpuKernelFunction entry() const noexcept { return entry_; }
  /// The hash of text, compiler, flags and processor.
  const ContentHash& identity() const noexcept { return identity_; }

 private:
  CpuKernel(void* library, CpuKernelFunction entry, const ContentHash& identity) noexcept
      : library_(library), entry_(entry), identity_(identity) {}

  void* library_;
  CpuKernelFunction entry_;
  ContentHash identity_;
};

}  // namespace meshfuse
