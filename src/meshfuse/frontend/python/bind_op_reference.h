// Facts of the op table for the reference page.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

void bindOpReference(nanobind::module_& module);

}  // namespace meshfuse
