// Options that are numbers of bytes.
#pragma once

#include <cstdint>

namespace meshfuse {

/// The number of bytes in an environment variable, or `otherwise` where it is unset or empty. Errors: a ValueError that names the
/// variable where it is no whole number.
uint64_t byteOption(const char* variable, uint64_t otherwise);

}  // namespace meshfuse
