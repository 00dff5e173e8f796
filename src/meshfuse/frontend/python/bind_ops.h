// The operations of the language as Python functions.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

/// Adds `op_functions()`, one function for each row of the op table, and what the type stubs are generated from.
void bindOps(nanobind::module_& module);

}  // namespace meshfuse
