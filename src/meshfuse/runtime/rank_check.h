// When the ranks of a mesh compare the programs that they are about to run.
#pragma once

#include <cstdint>

namespace meshfuse {

/// Every check covers a program's first run.
enum class RankCheck : uint8_t {
  /// Nothing more. Ranks that call different programs later, which all of them have run before, mix their collectives.
  First,
  /// And each call of a program that communicates tensors on the CPU, where the comparison costs little beside the rest.
  Communicating,
  /// And each other call of a distributed program.
  Always,
};

/// As MESHFUSE_CHECK_RANKS says: `first`, `always`; unset or empty is Communicating. Throws UserError(Value) for other text.
RankCheck rankCheckFromEnvironment();

}  // namespace meshfuse
