#include "meshfuse/lowering/violations.h"

#include <algorithm>

namespace meshfuse {

namespace {

class LoopVerifier {
 public:
  explicit LoopVerifier(const LoopKernel& kernel)
      : kernel_(kernel),
        isOuter_(kernel.graph.nodes.size(), false),
        isInPass_(kernel.graph.nodes.size(), false),
        isInRow_(kernel.graph.nodes.size(), false),
        accumulated_(kernel.graph.nodes.size(), 0),
        stores_(kernel.tensors.size(), 0) {
    for (size_t i = 0; i < kernel.graph.nodes.size(); ++i) {
      isOuter_[i] = isUniform(kernel.graph.nodes[i]);
    }
  }

  std::vector<std::string> run() && {
    for (size_t k = 0; k < kernel_.sections.size(); ++k) {
      checkSection(kernel_.sections[k]);
      if (k < kernel_.passes.size()) {
        checkPass(kernel_.passes[k]);
      }
    }
    for (const LoopStore& each : kernel_.outerStores) {
      if (accumulated_[static_cast<size_t>(each.node)] == 0) {
        add("n" + std::to_string(each.node) + " is used before it is accumulated");
      }
      ++stores_[static_cast<size_t>(each.tensor)];
    }
    for (size_t i = 0; i < kernel_.tensors.size(); ++i) {
      if (stores_[i] != (kernel_.tensors[i].isOutput ? 1 : 0)) {
        add("t" + std::to_string(i) + " is stored " + std::to_string(stores_[i]) + " times");
      }
    }
    return std::move(broken_);
  }

 private:
  void add(std::string text) { broken_.push_back(std::move(text)); }

  /// Reports a use of a value that is not known here.
  void use(NodeId id, const std::string& user) {
    const auto at = static_cast<size_t>(id);
    if (!isOuter_[at] && !isInPass_[at]) {
      add("n" + std::to_string(id) + " is used by " + user + " before it is computed");
    }
  }

  void compute(NodeId id, std::vector<bool>& known) {
    const Node& node = kernel_.graph.node(id);
    const std::string name = "n" + std::to_string(id);
    if (node.kind != NodeKind::Fold) {
      for (NodeId operand : node.operands) {
        use(operand, name);
      }
    } else if (accumulated_[static_cast<size_t>(id)] == 0) {
      add(name + " is used before it is accumulated");
    }
    known[static_cast<size_t>(id)] = true;
  }

  void store(const LoopStore& each) {
    use(each.node, "t" + std::to_string(each.tensor));
    ++stores_[static_cast<size_t>(each.tensor)];
  }

  void checkSection(const LoopSection& section) {
    for (NodeId id : section.scalars) {
      compute(id, isOuter_);
    }
    for (NodeId id : section.lanes) {
      compute(id, isOuter_);
    }
    std::ranges::for_each(section.stores, [&](const LoopStore& each) { store(each); });
    // In an array are those alone that are kept.
    for (NodeId id : section.lanes) {
      isOuter_[static_cast<size_t>(id)] = std::ranges::count(section.kept, id) != 0;
    }
  }

  void checkPass(const LoopPass& pass) {
    isInPass_.assign(isInPass_.size(), false);
    for (NodeId id : pass.restored) {
      if (!isInRow_[static_cast<size_t>(id)]) {
        add("n" + std::to_string(id) + " is taken from a row before it is put there");
      }
      isInPass_[static_cast<size_t>(id)] = true;
    }
    for (NodeId id : pass.nodes) {
      compute(id, isInPass_);
    }
    for (NodeId id : pass.staged) {
      use(id, "its row");
      isInRow_[static_cast<size_t>(id)] = true;
    }
    for (NodeId fold : pass.folds) {
      for (NodeId operand : kernel_.graph.node(fold).operands) {
        use(operand, "n" + std::to_string(fold));
      }
      if (++accumulated_[static_cast<size_t>(fold)] > 1) {
        add("n" + std::to_string(fold) + " is accumulated twice");
      }
    }
    for (NodeId fold : pass.outerFolds) {
      for (NodeId operand : kernel_.graph.node(fold).operands) {
        use(operand, "n" + std::to_string(fold));
      }
      if (++accumulated_[static_cast<size_t>(fold)] > 1) {
        add("n" + std::to_string(fold) + " is accumulated twice");
      }
    }
    std::ranges::for_each(pass.stores, [&](const LoopStore& each) { store(each); });
    isInPass_.assign(isInPass_.size(), false);
  }

  const LoopKernel& kernel_;
  std::vector<bool> isOuter_;  // by node: known in sections and in all later passes
  std::vector<bool> isInPass_;
  std::vector<bool> isInRow_;
  std::vector<int32_t> accumulated_;
  std::vector<int32_t> stores_;  // by tensor
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> loopViolations(const LoopKernel& kernel) {
  return LoopVerifier(kernel).run();
}

}  // namespace meshfuse
