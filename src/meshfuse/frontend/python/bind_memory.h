// The pool of recycled memory, in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

void bindMemory(nanobind::module_& module);

}  // namespace meshfuse
