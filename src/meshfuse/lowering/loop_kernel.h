// Loop IR: one kernel as nested loops over numbers, before it becomes text for a target.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshfuse/lowering/kernel_graph.h"
#include "meshfuse/scheduling/cost_model.h"
#include "meshfuse/scheduling/schedule.h"

namespace meshfuse {

/// How a tensor's address follows a loop.
enum class Step : uint8_t { None, Unit, Bound };

/// A tensor of the kernel, reads before writes, and how its address follows each loop. After them come the graph's indices, which
/// follow the loops as addresses do and have no memory.
struct LoopTensor {
  PrimType type = PrimType::Float;
  bool isOutput = false;
  bool isIndex = false;
  std::vector<Step> parallel;
  std::vector<Step> serial;
  Step lane = Step::None;
  /// Read into a buffer, tile by tile, where it lies along the lane.
  bool isTurned = false;
};

/// A number written to a tensor.
struct LoopStore {
  int32_t tensor = -1;  // index into LoopKernel::tensors
  NodeId node = -1;
};

/// What happens once per parallel iteration, before the pass of the same position: values that no reduced loop changes.
/// With a reduced lane they are single numbers. Otherwise those that vary along the lane (`lanes`) are computed in a loop over
/// it, and those that later loops need (`kept`) stay in an array.
struct LoopSection {
  std::vector<NodeId> scalars;
  std::vector<NodeId> lanes;
  std::vector<NodeId> kept;
  std::vector<LoopStore> stores;
};

/// One run through the serial loops and the lane.
struct LoopPass {
  std::vector<NodeId> nodes;
  std::vector<NodeId> folds;     // accumulated here
  std::vector<NodeId> staged;    // written to a row buffer here
  std::vector<NodeId> restored;  // read from one
  std::vector<LoopStore> stores;
  /// Added, element by element of the lane, to what the part of the parallel iterations has.
  std::vector<NodeId> outerFolds;
};

/// sections[k] runs before passes[k]; there is one section more than passes. A kernel without reductions has one pass.
struct LoopKernel {
  KernelGraph graph;
  std::vector<LoopTensor> tensors;
  int32_t parallelLoops = 0;
  int32_t serialLoops = 0;
  LoopMask laneLoops = 0;  // loops of the graph that run as the lane
  bool isLaneReduced = false;
  /// Divided along the outermost reduced loop: pass k runs on its own, in call k of the kernel, for each part, and leaves
  /// partial results that what comes after combines; the last call stores.
  bool isSplit = false;
  /// The innermost parallel loop and the lane run in tiles.
  bool isTiled = false;
  std::vector<LoopSection> sections;
  std::vector<LoopPass> passes;
  /// Of outer folds: the parallel iterations run in parts, each of which leaves a row of partial results, and a second call of the
  /// kernel makes one row of those.
  std::vector<LoopStore> outerStores;

  /// Whether the lane's elements are in an array of accumulators each: reduced serial loops around a lane that is not.
  bool hasLaneAccumulators() const noexcept { return !isLaneReduced && graph.reduced != 0; }
  /// How many of the tensors have memory.
  size_t addressCount() const noexcept { return graph.reads.size() + graph.writes.size(); }
  /// Calls of a split kernel, and of one with outer folds; 1 for others.
  int32_t calls() const noexcept;
  /// Whether the last of them runs for each part, to store what varies along reduced loops.
  bool lastCallIsSplit() const noexcept { return isSplit && !passes.back().stores.empty(); }
};

/// The loops of a graph under a schedule whose nest has its reads, then its writes, then its indices as accesses.
LoopKernel lower(KernelGraph graph, const Schedule& schedule, const CostModel& costs = {});

/// The folds whose parts leave partial results in tables, one each.
std::vector<NodeId> partialFolds(const LoopKernel& kernel);

/// One line a loop, section and statement.
std::string toText(const LoopKernel& kernel);

}  // namespace meshfuse
