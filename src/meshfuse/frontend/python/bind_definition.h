// The Python side of definitions.
#pragma once

#include <nanobind/nanobind.h>

#include "meshfuse/frontend/python/definition_object.h"

namespace meshfuse {

/// Adds the language to the module: the methods that define to `definition` (FusionDefinitionBase), the classes DataType, Val,
/// TensorView, Scalar and Fusion, the operations, and the errors' translation.
void bindDefinition(nanobind::module_& module, nanobind::class_<DefinitionObject>& definition);

/// What `execute` runs. Throws UserError(NotImplemented) "Fusion does not exist!" where no block has defined it.
FusionDefinition& definitionToRun(const DefinitionObject& self);

}  // namespace meshfuse
