// The Python object behind FusionDefinition.
#pragma once

#include <memory>

#include "meshfuse/frontend/fusion_definition.h"

namespace meshfuse {

/// The state of meshfuse.FusionDefinition: one C++ definition for each `with` block.
struct DefinitionObject {
  /// What the last block defined; null before the first block and after one that ended with an exception.
  std::shared_ptr<FusionDefinition> definition;
};

}  // namespace meshfuse
