// A fusion prepared to run for one set of sizes and shardings, on the ranks this process hosts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meshfuse/evaluator/collectives.h"
#include "meshfuse/ir/fusion.h"
#include "meshfuse/values/polymorphic_value.h"

namespace meshfuse {

/// One entry of a program: a call or a resharding, and the values whose last use it is.
struct ProgramStep {
  ExprId expr;
  std::vector<ValId> lastUses;
};

/// The evaluator's program: fusion with constant extents and shardings, order of steps, what to drop when.
class Program {
 public:
  /// `ranks`: linear mesh indices of the ranks hosted here; {0} with no mesh for an undistributed program.
  Program(Fusion fusion, std::vector<int64_t> ranks);

  const Fusion& fusion() const noexcept { return fusion_; }
  std::span<const ProgramStep> steps() const noexcept { return steps_; }

  /// `inputs[r]` are the arguments of hosted rank r in definition order: local tensors and scalars. Returns the outputs of
  /// each rank, then the values to be written into inputs, which are left as they are; local tensors, which may be views of
  /// inputs. `collectives` may be null for programs without reshardings that communicate. `device` is where tensors are made
  /// that no input's device decides.
  std::vector<std::vector<PolymorphicValue>> run(
      std::span<const std::vector<PolymorphicValue>> inputs, const Collectives* collectives,
      std::optional<c10::Device> device = std::nullopt) const;

 private:
  Fusion fusion_;
  std::vector<int64_t> ranks_;
  std::vector<ValId> results_;
  /// Local sizes by hosted rank and value.
  std::vector<std::vector<std::vector<int64_t>>> localSizes_;
  std::vector<ProgramStep> steps_;
};

/// One collective of a program and the bytes of the larger of its two sides on the first rank.
struct CollectiveEstimate {
  ExprId expr;
  std::string kind;  // all_reduce, all_gather or reduce_scatter
  int64_t bytes = 0;
};
std::vector<CollectiveEstimate> collectivesOf(const Fusion& sharded);

/// Whether ranks that run it wait for one another: for collectives, or for a seed that they share.
bool communicates(const Fusion& sharded);

}  // namespace meshfuse
