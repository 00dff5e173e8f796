#include "meshfuse/frontend/python/bind_kernels.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "meshfuse/runtime/background_thread.h"
#include "meshfuse/runtime/kernel_library.h"

namespace nb = nanobind;

namespace meshfuse {

void bindKernels(nb::module_& module) {
  module.def(
      "kernel_statistics",
      [] {
        const KernelCacheStatistics now = kernelCacheStatistics();
        nb::dict result;
        result["compiled"] = now.compiled;
        result["loaded_from_disk"] = now.loadedFromDisk;
        result["found_in_memory"] = now.foundInMemory;
        result["failed"] = now.failed;
        result["seconds_compiling"] = now.secondsCompiling;
        result["seconds_loading_from_disk"] = now.secondsLoadingFromDisk;
        return result;
      },
      "Where the kernels of this process came from.");
  module.def("end_background_thread", endBackgroundThread, nb::call_guard<nb::gil_scoped_release>(),
             "Ends compiling in the background; programs that wait for it stay on the evaluator.");
  module.def("set_fallback_compiler", setFallbackCompiler, nb::arg("words"),
             "The compiler to take where the system has none: a program and its first arguments.");
}

}  // namespace meshfuse
