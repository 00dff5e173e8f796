// What the machine tells about itself, for decisions of the compiler.
#pragma once

#include "meshfuse/scheduling/cost_model.h"

namespace meshfuse {

/// The costs of this machine and of torch's number of threads; what the machine doesn't tell keeps its default.
CostModel costsOfHost();

}  // namespace meshfuse
