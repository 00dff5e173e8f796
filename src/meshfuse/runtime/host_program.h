// What a compiled program does in a call: allocate, launch kernels, call libraries, communicate, free.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <c10/util/SmallVector.h>

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/evaluator/program_step.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/runtime/kernel_group.h"
#include "meshfuse/runtime/single_launch.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

enum class HostStepKind : uint8_t { Launch, Call, Reshard };

/// One step, and the tensors whose last use it is.
struct HostStep {
  HostStepKind kind = HostStepKind::Call;
  size_t launch = 0;  // Launch: index into the launches
  ExprId expr{};      // Call, Reshard
  std::vector<ValId> frees = {};
};

/// Where a tensor that kernels read or write is during a call.
struct TensorPlace {
  enum class Kind : uint8_t {
    Argument,  // the caller's
    Fresh,  // a tensor of its own, made when the step runs that computes it (outputs, operands of calls)
    Temporary,  // in the program's block of intermediates
  };
  Kind kind = Kind::Fresh;
  int64_t index = 0;  // Argument: its position; Temporary: its offset in bytes
};

/// A program of one rank, bound to sizes and strides. Holds no tensor; safe to run from many threads at once.
class HostProgram {
 public:
  struct Parts {
    Fusion fusion;  // constant extents, shardings settled
    int64_t rank = 0;
    std::vector<HostStep> steps;
    std::vector<KernelLaunch> launches;
    TensorLayouts layouts{0};
    std::vector<std::pair<ValId, TensorPlace>> places;
    int64_t temporaryBytes = 0;
  };
  explicit HostProgram(Parts parts);

  const Fusion& fusion() const noexcept { return parts_.fusion; }

  using Values = c10::SmallVectorImpl<PolymorphicValue>;

  /// Appends the outputs, then the values to be written into inputs: local tensors, which may be views of inputs where a
  /// library made them.
  void run(std::span<const ArgView> args, const Collectives* collectives, Values& results) const;

  /// Whether a run takes so long that the caller should let other threads in.
  bool isLarge() const noexcept { return isLarge_; }
  /// Bytes of intermediates that live at the same time in the program's own block.
  int64_t temporaryBytes() const noexcept { return parts_.temporaryBytes; }

  /// One line a step.
  std::string toText() const;

 private:
  /// What one launch needs of the call, by its tensors and numbers.
  struct Source {
    TensorPlace::Kind kind = TensorPlace::Kind::Argument;
    uint32_t index = 0;  // Argument: position; Fresh: slot; Temporary: unused
    int64_t offset = 0;  // Temporary
  };
  struct NumberSource {
    int32_t argument = -1;  // or, where it is -1, the value that a call has computed
    ValId val{};
  };
  struct FreshTensor {
    ValId val{};
    FreshLayout layout;
    int32_t result = -1;  // position among the results, -1 for none
  };
  struct BoundLaunch {
    CpuKernelFunction entry = nullptr;
    std::vector<Source> tensors;
    std::vector<NumberSource> numbers;
    std::vector<uint32_t> makes;  // fresh tensors that are made before it
  };
  struct Running;

  void bindLaunches();
  std::optional<SingleLaunch> singleLaunch() const;
  void runKernel(size_t index, int64_t& call, void** pointers, const void* numbers) const;
  /// The values of the evaluator before anything has run.
  RankState stateOf(std::span<const ArgView> args) const;
  void launch(size_t index, Running& running) const;
  /// Computes a launch's calls with the evaluator, from what its kernel reads, for the error that one of them throws.
  void evaluateCalls(size_t index, void** pointers, Running& running) const;
  void call(const HostStep& step, Running& running) const;
  /// The seed of a call. Those of earlier calls are drawn first, so that each gets the one that the evaluator gives it.
  uint64_t seedOfCall(ExprId expr, Running& running) const;
  void collectResults(Running& running) const;

  Parts parts_;
  std::vector<BoundLaunch> bound_;
  std::vector<FreshTensor> fresh_;
  std::vector<int32_t> freshOf_;     // by value: its fresh tensor, or -1
  std::vector<int32_t> argumentOf_;  // by value: its position among the arguments, or -1
  std::vector<ValId> results_;
  std::vector<ExprId> drawing_;                   // the calls that draw a seed, in order
  std::vector<std::vector<int64_t>> localSizes_;  // by value, where the evaluator may run
  bool hasCalls_ = false;
  bool isLarge_ = false;
  std::optional<SingleLaunch> single_;  // the whole of a run, where it is one
};

}  // namespace meshfuse
