// A fusion made ready for one signature: what is left to do in a call is to allocate and compute.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/evaluator/program.h"
#include "meshfuse/runtime/call_results.h"
#include "meshfuse/runtime/copy_program.h"
#include "meshfuse/runtime/host_program.h"
#include "meshfuse/runtime/input_writes.h"
#include "meshfuse/runtime/program_class.h"
#include "meshfuse/runtime/signature.h"
#include "meshfuse/runtime/tiered_program.h"

namespace meshfuse {

/// Holds no tensor. Safe to run from many threads at once.
class BoundProgram {
 public:
  /// Checks the arguments against the definition, settles sizes and shardings, chooses how to run. Throws UserError for
  /// arguments that do not fit and for shardings that would need what cannot be done.
  /// `classes` are those of the fusion.
  BoundProgram(const Fusion& fusion, std::span<const ArgView> args, const CallContext& context,
               Signature signature, const std::shared_ptr<ProgramClasses>& classes);

  /// Unique in the process, never used again; the cache id of the results.
  uint64_t id() const noexcept { return id_; }
  const Signature& signature() const noexcept { return signature_; }
  bool isDistributed() const noexcept { return distributed_; }
  /// Whether the program is one copy, which neither a kernel nor the evaluator makes.
  bool isCopy() const noexcept { return copy_.has_value(); }
  /// Whether it has generated kernels by now.
  bool isCompiled() const { return compiledNow() != nullptr; }
  /// Comes back when it is known whether it has.
  void waitForKernels(const CallContext& context) const;

  /// Runs it for arguments that match its signature and puts the outputs, in order, into `results`, which is empty. The ranks
  /// of a distributed program agree on it before its first run, before others as the context's rank check says, and before any of
  /// them writes its inputs.
  void run(std::span<const ArgView> args, const CallContext& context, CallResults& results) const;

  /// How the outputs lie; empty where they are plain tensors.
  std::vector<ShardingId> outputShardings() const;

  /// How it runs, the fusion with this signature's sizes and placements (changes of placement are `reshard` calls), and the
  /// collectives with their bytes.
  std::string toText() const;

 private:
  /// What makes a distributed tensor of an output's local one; empty for plain outputs.
  struct OutputLayout {
    ShardingId sharding;
    bool isEven = true;
    std::vector<int64_t> globalSizes;
  };
  enum class Agreement : uint8_t { None, Running, Done };

  const Fusion& fusion() const;
  const HostProgram* compiledNow() const;
  void checkWrittenTogether(std::span<const ArgView> args, const CallContext& context) const;
  bool isCheckedEachCall(RankCheck check) const noexcept;
  void agree(std::span<const ArgView> args, const CallContext& context) const;
  void agreeOnce(std::span<const ArgView> args, const CallContext& context) const;
  void runCopy(std::span<const ArgView> args, const CallContext& context,
               CallResults& results) const;
  void runCompiled(const HostProgram& compiled, std::span<const ArgView> args,
                   const CallContext& context, CallResults& results) const;
  void evaluate(const HostProgram* compiled, std::span<const ArgView> args,
                const CallContext& context, CallResults& results) const;
  std::vector<PolymorphicValue> compute(const HostProgram* compiled, std::span<const ArgView> args,
                                        const CallContext& context) const;
  void write(const CallContext& context, std::span<const at::Tensor> targets,
             std::span<PolymorphicValue> computed) const;
  void agreeToWrite(const CallContext& context) const;
  void tellFailure(const CallContext& context, const char* error) const noexcept;
  PolymorphicValue wrap(size_t output, PolymorphicValue&& value) const;

  uint64_t id_;
  Signature signature_;
  bool distributed_ = false;
  DeviceMesh mesh_;
  uint64_t fingerprint_ = 0;
  bool communicates_ = false;
  bool isOnCpu_ = false;
  std::vector<OutputLayout> outputs_;
  std::vector<int32_t> returnedInputs_;  // as of returnedInputs()
  std::vector<uint32_t> writtenInputs_;
  std::vector<int32_t> packedResults_;  // as of packedResults()
  std::optional<CopyProgram> copy_;
  /// What is computed, where program_ doesn't have it.
  std::optional<Fusion> compiledFusion_;
  std::optional<HostProgram> compiled_;
  /// Beside program_, which runs the calls until it is ready.
  std::shared_ptr<TieredProgram> tiered_;
  std::optional<Program> program_;
  mutable std::atomic<Agreement> agreement_{Agreement::None};
};

}  // namespace meshfuse
