// The definitions whose `with` blocks are open.
#pragma once

#include <memory>

#include "meshfuse/frontend/fusion_definition.h"

namespace meshfuse {

/// Makes `definition` the innermost open one of this thread.
void openBlock(std::shared_ptr<FusionDefinition> definition);
/// Ends its block; nothing happens if it has none on this thread.
void closeBlock(const FusionDefinition& definition) noexcept;
bool hasOpenBlock(const FusionDefinition& definition) noexcept;
/// The innermost open definition of this thread, which operations are added to; null if there is none.
const std::shared_ptr<FusionDefinition>* innermostDefinition() noexcept;

}  // namespace meshfuse
