// Runs one definition for any arguments: the front of the runtime.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/call_context.h"
#include "meshfuse/runtime/program_cache.h"
#include "meshfuse/values/kernel_argument_holder.h"

namespace meshfuse {

/// Owns a fusion and the programs bound for it. Safe to use from any number of threads.
class FusionExecutor {
 public:
  /// Keeps at most `capacity` bound programs, dropping the one not used for longest.
  explicit FusionExecutor(Fusion fusion, size_t capacity = 1024);

  const Fusion& fusion() const noexcept { return fusion_; }

  /// Puts the results of one call, in the order of the outputs, into `results`, which is empty. Throws UserError(Runtime)
  /// naming the first argument that does not fit the definition; the executor is as good as before then.
  void run(std::span<const ArgView> args, const CallContext& context, CallResults& results);

  /// The same for owned arguments, with the bound program's id as the results' cache id: tensors, distributed tensors, numbers, and vectors of those, which count as their elements.
  /// Other kinds throw UserError(Type).
  KernelArgumentHolder execute(const KernelArgumentHolder& inputs, const CallContext& context = {});

  /// Does what the first of such calls does before it computes: checks the arguments, whose elements are not read, and makes the
  /// program with its kernels, which it waits for. Does nothing where that was done.
  void compile(std::span<const ArgView> args, const CallContext& context);
  void compile(const KernelArgumentHolder& inputs, const CallContext& context = {});

  /// Whether a program for such arguments has been bound; false for arguments that do not fit.
  bool isBound(std::span<const ArgView> args, const CallContext& context);

  /// How the outputs of the last call lie, none for plain tensors; UserError(Runtime) before the first call.
  std::vector<ShardingId> outputShardings();

  /// The program of the last call as text (BoundProgram::toText); empty before the first call.
  std::string explain();

  /// The positions of the inputs that a call writes.
  std::span<const uint32_t> writtenInputs() const noexcept { return writtenInputs_; }
  /// For each output the position of the input that is given back as it, -1 for others; empty where there is none.
  std::span<const int32_t> returnedInputs() const noexcept { return returnedInputs_; }

  size_t boundProgramCount() const { return cache_.size(); }
  /// Whether the last call was one copy, without kernels and the evaluator (for tests and people).
  bool lastWasCopy();

 private:
  const BoundProgram& programFor(std::span<const ArgView> args, const CallContext& context);

  Fusion fusion_;
  /// Per input: whether a shape depends on the number.
  std::vector<uint8_t> valueMatters_;
  std::vector<uint32_t> writtenInputs_;
  std::vector<int32_t> returnedInputs_;
  std::shared_ptr<ProgramClasses> classes_ = std::make_shared<ProgramClasses>();
  ProgramCache cache_;
};

}  // namespace meshfuse
