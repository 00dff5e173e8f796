// What is legal in loop IR.
#pragma once

#include <string>
#include <vector>

#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

/// Every rule that a kernel breaks, in words. The rules: a value is computed before it is used, in the same pass or, where no
/// reduced loop changes it, in a section before; what a later pass takes from a row was put there; each fold is accumulated in
/// one pass, and is complete where its value is used; each tensor that is written is stored once.
std::vector<std::string> loopViolations(const LoopKernel& kernel);

}  // namespace meshfuse
