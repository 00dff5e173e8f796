// A fusion as Python sees it: to inspect, print and compare.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "meshfuse/frontend/python/definition_object.h"

namespace meshfuse {

/// The fusion of a definition, which it keeps alive.
struct FusionObject {
  std::shared_ptr<FusionDefinition> definition;
};

/// Adds the class Fusion to the module.
void bindFusion(nanobind::module_& module);

/// The fusion of a definition. Throws UserError(NotImplemented) "Fusion does not exist!" where no block has defined it.
FusionObject fusionOf(const DefinitionObject& self);

}  // namespace meshfuse
