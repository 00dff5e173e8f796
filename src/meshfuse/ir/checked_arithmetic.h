// Arithmetic on sizes that refuses to overflow.
#pragma once

#include <cstdint>

namespace meshfuse {

/// Throw UserError(Value) where the result does not fit.
int64_t addChecked(int64_t a, int64_t b);
int64_t subtractChecked(int64_t a, int64_t b);
int64_t multiplyChecked(int64_t a, int64_t b);

}  // namespace meshfuse
