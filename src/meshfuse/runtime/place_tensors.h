// Where the tensors of a program are during a call, and how long.
#pragma once

#include <string>
#include <vector>

#include "meshfuse/runtime/host_program.h"

namespace meshfuse {

/// Decides where tensors are, and when values that calls know are dropped. `sharesMemory`: intermediates whose lives do not
/// overlap may lie in one place.
void placeTensors(HostProgram::Parts& parts, bool sharesMemory);

/// What is wrong with the places, in words: a launch whose tensors have none, intermediates that are needed in the same step and
/// share memory, or lie beyond the end of the block. Empty for what placeTensors gives.
std::vector<std::string> placeViolations(const HostProgram::Parts& parts);

/// One line an intermediate.
std::string placesText(const HostProgram::Parts& parts);

}  // namespace meshfuse
