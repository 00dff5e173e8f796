// How much memory this process can have.
#pragma once

#include <cstdint>

namespace meshfuse {

/// The machine's memory in bytes, or what the control group of the process allows where that is less.
uint64_t physicalMemory();

}  // namespace meshfuse
