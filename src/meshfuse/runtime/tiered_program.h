// A program that is compiled in the background while the evaluator runs the calls (MESHFUSE_TIERED=1).
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "meshfuse/runtime/host_program.h"
#include "meshfuse/runtime/program_class.h"

namespace meshfuse {

/// Whether `MESHFUSE_TIERED` is 1. Throws UserError(Value) where it is neither that nor 0.
bool isTiered();

/// Safe to use from many threads at once.
class TieredProgram {
 public:
  /// Begins to compile the fusion, as of compile(), for a program that is not distributed. A TieredProgram that is gone when its
  /// turn comes is not compiled.
  static std::shared_ptr<TieredProgram> start(Fusion fusion, TensorLayouts arguments,
                                              std::shared_ptr<ProgramClasses> classes);

  /// The compiled program; null while there is none. Warns, once, that compilation has failed.
  const HostProgram* ready() const {
    const HostProgram* program = ready_.load(std::memory_order_acquire);
    if (program == nullptr && hasNews_.load(std::memory_order_acquire)) [[unlikely]] {
      warn();
    }
    return program;
  }

  /// Until compilation has ended, or the process does.
  void wait() const { ended_.wait(); }

 private:
  TieredProgram(Fusion fusion, TensorLayouts arguments, std::shared_ptr<ProgramClasses> classes);
  void compileNow() noexcept;
  void warn() const;

  std::optional<Fusion> fusion_;  // until compilation has begun
  std::optional<TensorLayouts> arguments_;
  std::shared_ptr<ProgramClasses> classes_;
  std::shared_future<void> ended_;
  std::optional<HostProgram> compiled_;
  std::string failure_;
  std::atomic<const HostProgram*> ready_{nullptr};
  mutable std::atomic<bool> hasNews_{false};  // a failure that nobody was told of
};

}  // namespace meshfuse
