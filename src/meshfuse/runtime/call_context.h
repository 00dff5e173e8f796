// What a call brings besides its arguments.
#pragma once

#include <cstdint>
#include <optional>

#include <c10/core/Device.h>

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/runtime/rank_check.h"

namespace meshfuse {

/// What the caller has to do around work that may block: the Python frontend gives up the interpreter lock in `enter` and
/// takes it again in `leave`. Both null for callers without such a lock.
struct BlockingHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void* token) = nullptr;
};

/// Calls the hooks for its lifetime. Scopes do not nest, and none is left while a lock of ours is held.
class BlockingScope {
 public:
  explicit BlockingScope(const BlockingHooks& hooks) : hooks_(hooks) {
    token_ = hooks_.enter == nullptr ? nullptr : hooks_.enter();
  }
  ~BlockingScope() {
    if (hooks_.leave != nullptr) {
      hooks_.leave(token_);
    }
  }
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  const BlockingHooks& hooks_;
  void* token_;
};

struct CallContext {
  /// Names the meshes' process groups; 0 when no argument is distributed. Programs bound for one are never used for another.
  uint64_t binding = 0;
  /// Every operation goes through ATen's dispatcher, as active dispatch modes expect.
  bool dispatchAll = false;
  RankCheck rankCheck = RankCheck::Communicating;
  /// This process's row-major position in the mesh.
  int64_t rank = 0;
  /// Null is enough for programs that do not communicate.
  const Collectives* collectives = nullptr;
  /// Where tensors are made of calls without tensors among their arguments; by default on the CPU.
  std::optional<c10::Device> device = std::nullopt;
  BlockingHooks blocking;
};

}  // namespace meshfuse
