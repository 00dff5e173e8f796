#include "meshfuse/lowering/loop_kernel.h"

#include <algorithm>

namespace meshfuse {

namespace {

std::string_view markOf(Step step) {
  return step == Step::None ? "." : step == Step::Unit ? "1" : "s";
}

class Printer {
 public:
  explicit Printer(const LoopKernel& kernel) : kernel_(kernel) {}

  std::string print() && {
    for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
      printTensor(i);
    }
    for (size_t i = 0; i < kernel_.graph.nodes.size(); ++i) {
      if (isUniform(kernel_.graph.nodes[i])) {
        statement(0, static_cast<NodeId>(i));
      }
    }
    line(0, "for " + std::to_string(kernel_.parallelLoops) + " parallel loops" +
                (kernel_.isLaneReduced ? "" : " and blocks of the lane") +
                (kernel_.isSplit               ? ", split"
                 : kernel_.outerStores.empty() ? ""
                                               : ", in parts") +
                (kernel_.isTiled ? ", in tiles" : ""));
    for (size_t k = 0; k < kernel_.sections.size(); ++k) {
      printSection(kernel_.sections[k]);
      if (k < kernel_.passes.size()) {
        printPass(kernel_.passes[k]);
      }
    }
    for (const LoopStore& store : kernel_.outerStores) {
      line(0,
           "t" + std::to_string(store.tensor) + " = all parts of n" + std::to_string(store.node));
    }
    return std::move(text_);
  }

 private:
  void line(int indent, const std::string& content) {
    text_ += std::string(static_cast<size_t>(indent) * 2, ' ') + content + "\n";
  }

  void statement(int indent, NodeId id) {
    const Node& node = kernel_.graph.node(id);
    line(indent,
         "n" + std::to_string(id) + ": " + std::string(nameOf(node.type)) + " = " + toText(node));
  }

  void printTensor(size_t index) {
    const LoopTensor& tensor = kernel_.tensors[index];
    std::string steps;
    for (const auto* list : {&tensor.parallel, &tensor.serial}) {
      for (Step step : *list) {
        steps += markOf(step);
      }
      steps += ' ';
    }
    const std::string_view kind = tensor.isIndex ? "index t" : tensor.isOutput ? "out t" : "in t";
    line(0, std::string(kind) + std::to_string(index) + ": " + std::string(nameOf(tensor.type)) +
                " [" + steps + std::string(markOf(tensor.lane)) + "]" +
                (tensor.isTurned ? " turned" : "") + (isPicked(index) ? " picked" : ""));
  }

  bool isPicked(size_t tensor) const {
    return tensor < kernel_.graph.reads.size() && kernel_.graph.reads[tensor].pickedDim >= 0;
  }

  void printStores(int indent, const std::vector<LoopStore>& stores) {
    for (const LoopStore& store : stores) {
      line(indent, "t" + std::to_string(store.tensor) + " = n" + std::to_string(store.node));
    }
  }

  void printSection(const LoopSection& section) {
    for (NodeId id : section.scalars) {
      statement(1, id);
    }
    if (!section.lanes.empty()) {
      line(1, "for lane");
      for (NodeId id : section.lanes) {
        statement(2, id);
      }
      for (NodeId id : section.kept) {
        line(2, "keep n" + std::to_string(id));
      }
    }
    printStores(section.lanes.empty() ? 1 : 2, section.stores);
  }

  void printPass(const LoopPass& pass) {
    line(1, "for " + std::to_string(kernel_.serialLoops) + " serial loops and the lane");
    for (NodeId id : pass.restored) {
      line(2, "n" + std::to_string(id) + " from its row");
    }
    for (NodeId id : pass.nodes) {
      statement(2, id);
    }
    for (NodeId id : pass.staged) {
      line(2, "row of n" + std::to_string(id));
    }
    for (NodeId id : pass.folds) {
      line(2, "accumulate n" + std::to_string(id));
    }
    for (NodeId id : pass.outerFolds) {
      line(2, "add to the part of n" + std::to_string(id));
    }
    printStores(2, pass.stores);
  }

  const LoopKernel& kernel_;
  std::string text_;
};

}  // namespace

int32_t LoopKernel::calls() const noexcept {
  if (!isSplit) {
    return outerStores.empty() ? 1 : 2;
  }
  const auto reduces = [](const LoopPass& pass) { return !pass.folds.empty(); };
  return static_cast<int32_t>(std::ranges::count_if(passes, reduces)) + 1;
}

std::vector<NodeId> partialFolds(const LoopKernel& kernel) {
  std::vector<NodeId> folds;
  if (kernel.isSplit) {
    for (const LoopPass& pass : kernel.passes) {
      folds.insert(folds.end(), pass.folds.begin(), pass.folds.end());
    }
  }
  for (const LoopPass& pass : kernel.passes) {
    folds.insert(folds.end(), pass.outerFolds.begin(), pass.outerFolds.end());
  }
  return folds;
}

std::string toText(const LoopKernel& kernel) { return Printer(kernel).print(); }

}  // namespace meshfuse
