// The compiler: from a fusion with settled sizes and shardings to a program that the host runs.
#pragma once

#include <optional>
#include <span>

#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/host_program.h"

namespace meshfuse {

/// The program of `fusion` (constant extents, shardings settled) for arguments with these layouts on the rank with that linear
/// mesh index. nullopt where nothing is to be compiled: tensors of other devices, no call that a kernel computes, compilation
/// switched off (`MESHFUSE_COMPILE=0`), or no compiler on the machine.
std::optional<HostProgram> compile(const Fusion& fusion, std::span<const ArgView> args,
                                   int64_t rank);

}  // namespace meshfuse
