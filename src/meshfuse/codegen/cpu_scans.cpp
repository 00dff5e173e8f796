#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

namespace {

/// More work than waits beside one addition after the other.
constexpr int64_t kWorkInOrder = 12;

bool isScan(const KernelGraph& graph, NodeId id) { return graph.node(id).kind == NodeKind::Scan; }

/// What costs less to read again than to keep.
bool isReread(const Node& node) {
  return node.kind == NodeKind::Read || node.kind == NodeKind::Index;
}

/// Divides the nodes of a pass by how many scans come before them.
class Stages {
 public:
  Stages(const KernelGraph& graph, const LoopPass& pass) : graph_(graph) {
    for (NodeId id : pass.nodes) {
      size_t level = isScan(graph, id) ? 1 : 0;
      for (NodeId operand : graph.node(id).operands) {
        const auto found = levels_.find(operand);
        if (found != levels_.end()) {
          level = std::max(level, found->second + (isScan(graph, id) ? 1 : 0));
        }
      }
      levels_.emplace(id, level);
      last_ = std::max(last_, level);
    }
    wanted_.resize(last_ + 1);
  }

  size_t last() const { return last_; }
  size_t levelOf(NodeId id) const { return levels_.at(id); }
  const std::set<NodeId>& wantedAt(size_t level) const { return wanted_[level]; }
  const std::set<NodeId>& carried() const { return carried_; }

  /// Notes that a stage uses a value. Stages are asked from the last on.
  void want(NodeId id, size_t stage) {
    const auto found = levels_.find(id);
    if (found == levels_.end() || !wanted_[stage].insert(id).second || isScan(graph_, id)) {
      return;
    }
    if (found->second < stage && !isReread(graph_.node(id))) {
      carried_.insert(id);
      want(id, found->second);
      return;
    }
    for (NodeId operand : graph_.node(id).operands) {
      want(operand, stage);
    }
  }

 private:
  const KernelGraph& graph_;
  std::map<NodeId, size_t> levels_;
  size_t last_ = 0;
  std::vector<std::set<NodeId>> wanted_;
  std::set<NodeId> carried_;
};

}  // namespace

std::vector<CpuPrinter::Stage> CpuPrinter::stagesOf(const KernelGraph& graph,
                                                    const LoopPass& pass) {
  Stages stages(graph, pass);
  std::vector<Stage> result(stages.last() + 1);
  for (NodeId id : pass.nodes) {
    if (isScan(graph, id)) {
      result[stages.levelOf(id) - 1].scans.push_back(id);
    }
  }
  const auto wantOperands = [&](NodeId id) {
    for (NodeId operand : graph.node(id).operands) {
      stages.want(operand, stages.last());
    }
  };
  std::ranges::for_each(pass.folds, wantOperands);
  std::ranges::for_each(pass.staged, [&](NodeId id) { stages.want(id, stages.last()); });
  for (const LoopStore& store : pass.stores) {
    stages.want(store.node, stages.last());
  }
  for (size_t stage = stages.last(); stage-- > 0;) {
    for (NodeId id : result[stage].scans) {
      stages.want(graph.node(id).operands.front(), stage);
    }
  }
  for (NodeId id : pass.nodes) {
    for (size_t stage = stages.levelOf(id); stage <= stages.last(); ++stage) {
      const bool isCarried = stages.carried().contains(id);
      if (!stages.wantedAt(stage).contains(id)) {
        continue;
      }
      const bool isOwn = stage == stages.levelOf(id);
      (isCarried && !isOwn ? result[stage].carried : result[stage].nodes).push_back(id);
      if (isCarried && isOwn) {
        result[stage].kept.push_back(id);
      }
    }
  }
  return result;
}

bool CpuPrinter::scansAny(const LoopPass& pass) const {
  return std::ranges::any_of(pass.nodes, [&](NodeId id) { return isScan(graph_, id); });
}

bool CpuPrinter::scansAlongLane(const LoopPass& pass) const {
  return kernel_.isLaneReduced && !isStaged_ && scansAny(pass);
}

bool CpuPrinter::scansInStages(const LoopPass& pass) const {
  int64_t work = 0;
  for (NodeId id : pass.nodes) {
    work += isScan(graph_, id) ? 0 : workOf(graph_.node(id));
  }
  return scansAlongLane(pass) && work > kWorkInOrder;
}

void CpuPrinter::scanBuffers() {
  std::set<NodeId> scans;
  std::map<NodeId, PrimType> inChunks;
  for (const LoopPass& pass : kernel_.passes) {
    std::ranges::copy_if(pass.nodes, std::inserter(scans, scans.end()),
                         [&](NodeId id) { return isScan(graph_, id); });
    if (!scansInStages(pass)) {
      continue;
    }
    for (const Stage& stage : stagesOf(graph_, pass)) {
      for (NodeId id : stage.scans) {
        inChunks.emplace(id, graph_.node(id).compute);
      }
      for (NodeId id : stage.kept) {
        inChunks.emplace(id, graph_.node(id).type);
      }
    }
  }
  for (NodeId id : scans) {
    const std::string type(deviceComputeName(graph_.node(id).compute));
    if (kernel_.isLaneReduced) {
      line(type + " " + name('f', id) + ";");
    } else {
      buffer(type, name('f', id), kBlockElements);
    }
  }
  for (const auto& [id, type] : inChunks) {
    buffer(std::string(deviceComputeName(type)), name('n', id), kChunk);
  }
}

void CpuPrinter::beginScans(const LoopPass& pass) {
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Scan) {
      continue;
    }
    const std::string start =
        node.operands.size() == 1
            ? identityText(id)
            : combined(id, identityText(id), operandText(graph_, node.operands[1], node.compute));
    if (kernel_.isLaneReduced) {
      line(name('f', id) + " = " + start + ";");
      continue;
    }
    openLoop("l", "0", "count");
    line(name('f', id) + "[l] = " + start + ";");
    close();
  }
}

std::string CpuPrinter::runningElement(NodeId id) const {
  return name('f', id) + (kernel_.isLaneReduced ? "" : "[base + j]");
}

void CpuPrinter::advance(NodeId id, const std::string& term) {
  const std::string running = runningElement(id);
  line(running + " = " + combined(id, running, term) + ";");
}

void CpuPrinter::stages(const LoopPass& pass, const std::string& begin, const std::string& end,
                        int lanes) {
  const std::vector<Stage> stages = stagesOf(graph_, pass);
  isStaged_ = true;
  for (const Stage& stage : stages) {
    LoopPass part;
    part.nodes = stage.nodes;
    part.restored = pass.restored;
    carried_ = stage.carried;
    if (&stage == &stages.back()) {
      part.folds = pass.folds;
      part.staged = pass.staged;
      part.stores = pass.stores;
      elementLoops(part, begin, end, lanes);
      continue;
    }
    simd();
    openLoop("j", begin, end);
    elements(part, "j");
    for (NodeId id : stage.kept) {
      line(stagedElement(id) + " = " + valueName(id) + ";");
    }
    for (NodeId id : stage.scans) {
      line(stagedElement(id) + " = " + termText(id, graph_.node(id).compute) + ";");
    }
    close();
    openLoop("j", begin, end);
    for (NodeId id : stage.scans) {
      advance(id, stagedElement(id));
      line(stagedElement(id) + " = " + runningElement(id) + ";");
    }
    close();
  }
  isStaged_ = false;
  carried_.clear();
}

}  // namespace meshfuse
