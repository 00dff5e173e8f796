// The results of one call on its way out: like a KernelArgumentHolder, but a few of them cost no allocation.
#pragma once

#include <cstdint>

#include <c10/util/SmallVector.h>

#include "meshfuse/values/kernel_argument_holder.h"

namespace meshfuse {

struct CallResults {
  c10::SmallVector<PolymorphicValue, 4> values;
  /// The bound program's id.
  uint64_t programId = 0;

  KernelArgumentHolder toHolder() && {
    KernelArgumentHolder holder;
    holder.reserve(values.size());
    for (PolymorphicValue& value : values) {
      holder.push(std::move(value));
    }
    holder.setCacheId(programId);
    return holder;
  }
};

}  // namespace meshfuse
