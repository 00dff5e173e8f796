// FusionDefinition.execute: the call that everything else serves.
#pragma once

#include <nanobind/nanobind.h>

#include "meshfuse/frontend/python/definition_object.h"

namespace meshfuse {

/// Adds FusionDefinitionBase with its `execute` to the module.
nanobind::class_<DefinitionObject> bindExecute(nanobind::module_& module);

}  // namespace meshfuse
