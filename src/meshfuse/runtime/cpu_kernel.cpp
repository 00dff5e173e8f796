#include "meshfuse/runtime/cpu_kernel.h"

#include <dlfcn.h>

namespace meshfuse {

std::shared_ptr<const CpuKernel> CpuKernel::open(const std::string& path,
                                                 const ContentHash& identity,
                                                 std::string& failure) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = library != nullptr ? ::dlsym(library, kCpuKernelSymbol) : nullptr;
  if (entry == nullptr) {
    const char* reason = ::dlerror();
    failure = reason != nullptr ? reason : "the function is null";
    if (library != nullptr) {
      ::dlclose(library);
    }
    return nullptr;
  }
  return std::shared_ptr<const CpuKernel>(
      new CpuKernel(library, reinterpret_cast<CpuKernelFunction>(entry), identity));
}

CpuKernel::~CpuKernel() { ::dlclose(library_); }

}  // namespace meshfuse
