// Meshes bound to process groups, in Python.
#pragma once

#include <nanobind/nanobind.h>

namespace meshfuse {

/// Adds MeshBinding, release_groups, shutdown_communication and set_collective_deadline, and has communication shut down by
/// an exit handler that runs while the interpreter and torch are still there.
void bindCommunication(nanobind::module_& module);

}  // namespace meshfuse
