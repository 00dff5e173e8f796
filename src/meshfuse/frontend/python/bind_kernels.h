// The library of compiled kernels, in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

void bindKernels(nanobind::module_& module);

}  // namespace meshfuse
