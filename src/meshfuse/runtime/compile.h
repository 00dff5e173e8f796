// The compiler: from a fusion with settled sizes and shardings to a program that the host runs.
#pragma once

#include <optional>
#include <span>

#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/host_program.h"
#include "meshfuse/runtime/program_class.h"

namespace meshfuse {

/// Whether a program of `fusion` is compiled for arguments like these: strided tensors on the CPU, and numbers; never with packed
/// elements, nor where compilation is switched off (`MESHFUSE_COMPILE=0`).
bool isCompilable(const Fusion& fusion, std::span<const ArgView> args);

/// The layouts of the arguments, as those of the fusion's inputs.
TensorLayouts argumentLayouts(const Fusion& fusion, std::span<const ArgView> args);

/// The program of `fusion` (constant extents, shardings settled) for arguments with these layouts on the rank with that linear
/// mesh index. `classes` are those of the definition, which later sizes find kernels in. The program's own fusion is a cleaned one,
/// with the same inputs and results. nullopt where nothing is to be compiled: no call that a kernel computes, or no compiler on
/// the machine.
std::optional<HostProgram> compile(const Fusion& fusion, const TensorLayouts& arguments,
                                   int64_t rank, ProgramClasses& classes);

}  // namespace meshfuse
