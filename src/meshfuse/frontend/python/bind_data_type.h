// The element types in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

/// Adds the enum DataType and `torch_dtype_names`, the table that pytorch_utils maps dtypes by.
void bindDataType(nanobind::module_& module);

}  // namespace meshfuse
