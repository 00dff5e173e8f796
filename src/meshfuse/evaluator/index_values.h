// Checking the values of an index before they address memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// `index` as int64. Throws UserError(Index) naming `op` for a value outside [0, size) of an index on the host; on an
/// accelerator torch's kernels assert it, since reading the values back would stop the host.
at::Tensor checkedIndex(std::string_view op, const at::Tensor& index, int64_t dim, int64_t size);

}  // namespace meshfuse
