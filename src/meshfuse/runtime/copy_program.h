// One copy of a contiguous CPU tensor: there is nothing to compile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <c10/util/SmallVector.h>

#include "meshfuse/ir/fusion.h"
#include "meshfuse/runtime/allocation.h"
#include "meshfuse/runtime/arg_view.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// A fusion whose only call is a `set`, the only output. A kernel would take 32 ns more for a small tensor, which is 8 % of a call,
/// and a compiler before the first one.
class CopyProgram {
 public:
  /// nullopt where the fusion is another one, and where the operand is not all of its memory, in order, on the CPU.
  static std::optional<CopyProgram> build(const Fusion& fusion, std::span<const ArgView> args);

  using Values = c10::SmallVectorImpl<PolymorphicValue>;

  /// Appends the copy.
  void run(std::span<const ArgView> args, Values& outputs) const;

  /// Whether a run takes so long that the caller should let other threads in.
  bool isLarge() const noexcept { return elements_ > kLargeElements; }

 private:
  static constexpr int64_t kLargeElements = int64_t{1} << 16;

  size_t argument_ = 0;
  int64_t elements_ = 0;
  FreshLayout result_;
};

}  // namespace meshfuse
