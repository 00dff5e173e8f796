#include "meshfuse/evaluator/index_values.h"

#include <string>

#include <ATen/ATen.h>

#include "meshfuse/base/error.h"

namespace meshfuse {

at::Tensor checkedIndex(std::string_view op, const at::Tensor& index, int64_t dim, int64_t size) {
  if (index.is_cpu() && index.numel() > 0) {
    const auto [least, most] = at::aminmax(index);
    const int64_t low = least.item<int64_t>();
    const int64_t high = most.item<int64_t>();
    if (low < 0 || high >= size) {
      throwUser(ErrorKind::Index,
                {op, "index values lie in the indexed dimension",
                 "got index " + std::to_string(low < 0 ? low : high) + " for dimension " +
                     std::to_string(dim) + " of size " + std::to_string(size),
                 "use values from 0 to the size minus 1"});
    }
  }
  return index.to(at::kLong);
}

}  // namespace meshfuse
