// What an execution writes into its inputs.
#pragma once

#include <cstddef>

#include "meshfuse/ir/ids.h"

namespace meshfuse {

class Fusion;

/// `input` holds `value` after an execution. All reads come before all writes: whatever the program computes, it computes from
/// the inputs as they were before the call.
struct InputWrite {
  ValId value;
  ValId input;
  /// How many outputs were added before it: its place in the text.
  size_t outputsBefore = 0;

  bool operator==(const InputWrite&) const = default;
};

/// Throws UserError unless `value` may be written into `input`: UserError(Type) for a scalar, UserError(Runtime) for a tensor
/// that is no input, another element type or rank, and sizes that are known to differ.
void checkInputWrite(const Fusion& fusion, ValId value, ValId input);

}  // namespace meshfuse
