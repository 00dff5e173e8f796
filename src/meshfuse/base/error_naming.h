// Errors of the layers below ops, told as errors of the op that was called.
#pragma once

#include <string_view>

#include "meshfuse/base/error.h"

namespace meshfuse {

/// Throw `error` again as one of `op`. Arithmetic on types, numbers and sizes says in its place what it computes ("type
/// promotion: …"); a reader wants to know in which call. Text that names the op already stays as it is.
[[noreturn]] void rethrowNaming(std::string_view op, const UserError& error);

}  // namespace meshfuse
