#include <algorithm>

#include "meshfuse/base/error.h"
#include "meshfuse/lowering/loop_kernel.h"

namespace meshfuse {

namespace {

Step stepOf(int64_t stride) {
  return stride == 0 ? Step::None : stride == 1 ? Step::Unit : Step::Bound;
}

/// Only the lane's unit stride is compiled in; elsewhere a stride of 1 is a number as any other.
Step outerStepOf(int64_t stride) { return stride == 0 ? Step::None : Step::Bound; }

class Lowering {
 public:
  Lowering(KernelGraph graph, const Schedule& schedule, const CostModel& costs)
      : schedule_(schedule), costs_(costs) {
    kernel_.graph = std::move(graph);
    for (LoopId loop : schedule.lane.loops) {
      lane_ |= LoopMask{1} << loop;
    }
    const size_t count = kernel_.graph.nodes.size();
    isStaged_.assign(count, false);
    isKept_.assign(count, false);
  }

  LoopKernel lower() && {
    takeTensors();
    widenLongSums();
    kernel_.parallelLoops = static_cast<int32_t>(schedule_.parallel.size());
    kernel_.serialLoops = static_cast<int32_t>(schedule_.serial.size());
    kernel_.laneLoops = lane_;
    kernel_.isLaneReduced = schedule_.isLaneReduced;
    kernel_.isSplit = schedule_.isSplit;
    kernel_.isTiled = schedule_.isTiled;
    int32_t phases = 0;
    for (const Node& node : graph().nodes) {
      phases = std::max(phases, node.phase);
    }
    // The last pass is for what varies along reduced loops once all folds are complete.
    const bool hasLastPass = std::ranges::any_of(graph().writes, [&](const GraphTensor& write) {
      return (isWrittenInside(write) || isOuterFold(write.node)) &&
             graph().node(write.node).phase == phases;
    });
    const auto passes = static_cast<size_t>(phases) + (hasLastPass ? 1 : 0);
    kernel_.passes.resize(passes);
    kernel_.sections.resize(passes + 1);
    placeStores();
    for (size_t k = passes; k-- > 0;) {
      fillPass(k);
    }
    fillSections();
    return std::move(kernel_);
  }

 private:
  const KernelGraph& graph() const { return kernel_.graph; }

  /// Whether a value is computed in passes: it varies along a reduced loop, or there is none.
  bool isInner(NodeId id) const {
    const Node& node = graph().node(id);
    return !isUniform(node) && (graph().reduced == 0 || (node.loops & graph().reduced) != 0);
  }
  /// Whether a value is written in passes: it is made there, or repeats along a reduced loop.
  bool isWrittenInside(const GraphTensor& write) const {
    return graph().reduced == 0 || isInner(write.node) ||
           (maskOf(write.loops) & graph().reduced) != 0;
  }
  bool isOuterFold(NodeId id) const { return graph().node(id).kind == NodeKind::OuterFold; }
  bool variesAlongLane(NodeId id) const { return (graph().node(id).loops & lane_) != 0; }

  /// Along serial loops one number takes all terms, one after the other: in Float the error would grow with their count. Only
  /// rows that one thread has to itself are taken again where their sum overflows.
  void widenLongSums() {
    for (Node& node : kernel_.graph.nodes) {
      if (node.kind == NodeKind::Fold && node.compute == PrimType::Float &&
          node.fold == ReduceKind::Sum &&
          (!schedule_.serial.empty() || (schedule_.isSplit && isRetaken(node)))) {
        node.compute = PrimType::Double;
      }
    }
  }

  void takeTensors() {
    const size_t reads = graph().reads.size();
    for (size_t i = 0; i < kernel_.addressCount() + graph().indices.size(); ++i) {
      LoopTensor tensor;
      tensor.isIndex = i >= kernel_.addressCount();
      tensor.isOutput = i >= reads && !tensor.isIndex;
      tensor.type = tensor.isIndex    ? PrimType::Int
                    : tensor.isOutput ? graph().writes[i - reads].type
                                      : graph().reads[i].type;
      for (const ScheduledLoop& loop : schedule_.parallel) {
        tensor.parallel.push_back(outerStepOf(loop.strides[i]));
      }
      for (const ScheduledLoop& loop : schedule_.serial) {
        tensor.serial.push_back(outerStepOf(loop.strides[i]));
      }
      tensor.lane = stepOf(schedule_.lane.strides[i]);
      tensor.isTurned = schedule_.turns(i, tensor.isOutput);
      kernel_.tensors.push_back(std::move(tensor));
    }
  }

  void placeStores() {
    for (size_t i = 0; i < graph().writes.size(); ++i) {
      const NodeId node = graph().writes[i].node;
      const auto phase = static_cast<size_t>(graph().node(node).phase);
      const LoopStore store{static_cast<int32_t>(graph().reads.size() + i), node};
      if (isOuterFold(node)) {
        kernel_.outerStores.push_back(store);
      } else if (isWrittenInside(graph().writes[i])) {
        kernel_.passes[phase].stores.push_back(store);
      } else {
        kernel_.sections[phase].stores.push_back(store);
      }
    }
    for (size_t i = 0; i < graph().nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (graph().nodes[i].kind == NodeKind::Fold) {
        kernel_.passes[static_cast<size_t>(graph().nodes[i].phase - 1)].folds.push_back(id);
      } else if (isOuterFold(id)) {
        kernel_.passes[static_cast<size_t>(graph().nodes[i].phase)].outerFolds.push_back(id);
      }
    }
  }

  /// The work of computing an inner value again from what is read.
  int64_t chainWork(NodeId id) const {
    const Node& node = graph().node(id);
    int64_t work = workOf(node);
    for (NodeId operand : node.operands) {
      if (isInner(operand)) {
        work += chainWork(operand);
      }
      if (work > costs_.cheapWork) {
        break;
      }
    }
    return work;
  }

  /// Passes are filled from the last: what a later one wants kept is written in an earlier one.
  void fillPass(size_t k) {
    LoopPass& pass = kernel_.passes[k];
    std::vector<uint8_t> seen(graph().nodes.size(), 0);
    const auto visit = [&](auto&& self, NodeId id) -> void {
      if (seen[static_cast<size_t>(id)] != 0 || !isInner(id)) {
        return;
      }
      seen[static_cast<size_t>(id)] = 1;
      const Node& node = graph().node(id);
      if (static_cast<size_t>(node.phase) < k && schedule_.keepsRows && variesAlongLane(id) &&
          chainWork(id) > costs_.cheapWork) {
        pass.restored.push_back(id);
        stage(id);
        return;
      }
      for (NodeId operand : node.operands) {
        self(self, operand);
      }
      pass.nodes.push_back(id);
    };
    for (const auto* folds : {&pass.folds, &pass.outerFolds}) {
      for (NodeId fold : *folds) {
        for (NodeId operand : graph().node(fold).operands) {
          visit(visit, operand);
        }
      }
    }
    for (const LoopStore& store : pass.stores) {
      visit(visit, store.node);
    }
    for (NodeId id : pass.staged) {
      visit(visit, id);
    }
  }

  void stage(NodeId id) {
    if (!isStaged_[static_cast<size_t>(id)]) {
      isStaged_[static_cast<size_t>(id)] = true;
      kernel_.passes[static_cast<size_t>(graph().node(id).phase)].staged.push_back(id);
    }
  }

  /// Outer values are computed in the section of their phase, if anything needs them.
  void fillSections() {
    std::vector<uint8_t> isNeeded(graph().nodes.size(), 0);
    const auto need = [&](auto&& self, NodeId id) -> void {
      if (isInner(id) || isUniform(graph().node(id)) || isNeeded[static_cast<size_t>(id)] != 0) {
        return;
      }
      isNeeded[static_cast<size_t>(id)] = 1;
      if (graph().node(id).kind != NodeKind::Fold) {
        for (NodeId operand : graph().node(id).operands) {
          self(self, operand);
        }
      }
    };
    for (const LoopPass& pass : kernel_.passes) {
      for (NodeId id : pass.nodes) {
        for (NodeId operand : graph().node(id).operands) {
          need(need, operand);
          isKept_[static_cast<size_t>(operand)] =
              isKept_[static_cast<size_t>(operand)] || !isInner(operand);
        }
      }
      for (NodeId fold : pass.folds) {
        for (NodeId operand : graph().node(fold).operands) {
          need(need, operand);
          isKept_[static_cast<size_t>(operand)] =
              isKept_[static_cast<size_t>(operand)] || !isInner(operand);
        }
      }
      for (const LoopStore& store : pass.stores) {
        need(need, store.node);
        isKept_[static_cast<size_t>(store.node)] =
            isKept_[static_cast<size_t>(store.node)] || !isInner(store.node);
      }
    }
    for (const LoopSection& section : kernel_.sections) {
      for (const LoopStore& store : section.stores) {
        need(need, store.node);
      }
    }
    keepForLaterSections(isNeeded);
    for (size_t i = 0; i < graph().nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (isNeeded[i] == 0) {
        continue;
      }
      LoopSection& section = kernel_.sections[static_cast<size_t>(graph().nodes[i].phase)];
      if (!kernel_.hasLaneAccumulators() || !variesAlongLane(id)) {
        section.scalars.push_back(id);
        continue;
      }
      section.lanes.push_back(id);
      if (isKept_[i]) {
        section.kept.push_back(id);
      }
    }
  }

  /// A lane value that a later section uses is kept like one that a pass uses.
  void keepForLaterSections(const std::vector<uint8_t>& isNeeded) {
    for (size_t i = 0; i < graph().nodes.size(); ++i) {
      if (isNeeded[i] == 0 || graph().nodes[i].kind == NodeKind::Fold) {
        continue;
      }
      for (NodeId operand : graph().nodes[i].operands) {
        if (!isInner(operand) && graph().node(operand).phase < graph().nodes[i].phase) {
          isKept_[static_cast<size_t>(operand)] = true;
        }
      }
    }
    for (size_t k = 0; k < kernel_.sections.size(); ++k) {
      for (const LoopStore& store : kernel_.sections[k].stores) {
        internalCheck(static_cast<size_t>(graph().node(store.node).phase) == k,
                      "a value is stored in the section that makes it");
      }
    }
  }

  const Schedule& schedule_;
  const CostModel& costs_;
  LoopKernel kernel_;
  LoopMask lane_ = 0;
  std::vector<bool> isStaged_;
  std::vector<bool> isKept_;
};

}  // namespace

LoopKernel lower(KernelGraph graph, const Schedule& schedule, const CostModel& costs) {
  return Lowering(std::move(graph), schedule, costs).lower();
}

}  // namespace meshfuse
