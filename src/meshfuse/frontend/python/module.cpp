// The extension module meshfuse._C.
#include <nanobind/nanobind.h>

#include "meshfuse/frontend/python/bind_communication.h"
#include "meshfuse/frontend/python/bind_definition.h"
#include "meshfuse/frontend/python/bind_kernels.h"
#include "meshfuse/frontend/python/bind_memory.h"
#include "meshfuse/frontend/python/bind_op_reference.h"
#include "meshfuse/frontend/python/bind_programs.h"
#include "meshfuse/frontend/python/execute.h"
#include "meshfuse/frontend/python/mesh_record.h"

namespace nb = nanobind;

NB_MODULE(_C, module) {
  module.doc() = "The compiled part of meshfuse.";
  module.attr("version") = MESHFUSE_VERSION;
  nb::class_<meshfuse::DefinitionObject> definition = meshfuse::bindExecute(module);
  meshfuse::bindDefinition(module, definition);
  meshfuse::bindPrograms(definition);
  meshfuse::bindOpReference(module);
  meshfuse::bindCommunication(module);
  meshfuse::bindKernels(module);
  meshfuse::bindMemory(module);
  module.def(
      "_remember_mesh", [](nb::handle mesh) { meshfuse::addMeshRecord(mesh.ptr()); },
      nb::arg("mesh"),
      "Keeps what is known of a mesh until its process groups go, as a call with a DTensor does.");
  module.def(
      "_release_meshes", meshfuse::releaseMeshes,
      "Forgets every mesh, spec and process group; the next call with a DTensor finds them again.");
}
