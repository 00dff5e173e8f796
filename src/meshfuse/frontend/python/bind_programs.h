// What Python can ask of a definition's programs without running them.
#pragma once

#include <nanobind/nanobind.h>

#include "meshfuse/frontend/python/definition_object.h"

namespace meshfuse {

/// Adds to FusionDefinitionBase how programs are made ahead of a call, and what is known of those that there are.
void bindPrograms(nanobind::class_<DefinitionObject>& definition);

}  // namespace meshfuse
