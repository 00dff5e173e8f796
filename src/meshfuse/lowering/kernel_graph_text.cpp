#include "meshfuse/base/text.h"
#include "meshfuse/lowering/kernel_graph.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

namespace {

std::string maskText(LoopMask mask) {
  std::vector<std::string> names;
  for (int loop = 0; mask >> loop != 0; ++loop) {
    if (((mask >> loop) & 1U) != 0) {
      names.push_back("l" + std::to_string(loop));
    }
  }
  return "[" + joinText(names, ", ") + "]";
}

}  // namespace

std::string toText(const Node& node) {
  std::vector<std::string> operands;
  for (NodeId operand : node.operands) {
    operands.push_back("n" + std::to_string(operand));
  }
  const std::string list = "(" + joinText(operands, ", ") + ")";
  switch (node.kind) {
    case NodeKind::Read:
      return "read " + std::to_string(node.index);
    case NodeKind::Number:
      return "number " + std::to_string(node.index);
    case NodeKind::Constant:
      return node.constant.toText();
    case NodeKind::Pointwise:
      return std::string(pointwiseRows()[static_cast<size_t>(node.index)].name) + list;
    case NodeKind::Cast:
      return "cast" + list;
    case NodeKind::Fold:
      return "fold " + std::string(nameOf(node.fold)) + (node.squares ? " of squares(" : "(") +
             joinText(operands, ") / ") + (operands.size() == 1 ? ")" : "");
    case NodeKind::OuterFold:
      return "fold outer " + std::string(nameOf(node.fold)) + list;
    case NodeKind::Scan:
      return "scan " + std::string(nameOf(node.fold)) + list;
    case NodeKind::Count:
      return "count";
    case NodeKind::Index:
      return "index " + std::to_string(node.index);
    case NodeKind::Seed:
      return "seed " + std::to_string(node.index);
    case NodeKind::Pick:
      return "pick " + std::to_string(node.index) + list;
    case NodeKind::Inside:
      return "inside " + std::to_string(node.index);
    case NodeKind::Masked:
      return "read " + std::to_string(node.index) + " where" + list;
    case NodeKind::Uniform:
      return "uniform" + list;
    case NodeKind::Normal:
      return "normal" + list;
  }
  return {};
}

std::string toText(const KernelGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text += "n" + std::to_string(i) + ": " + std::string(nameOf(node.type)) + " = " + toText(node) +
            " " + maskText(node.loops) + "\n";
  }
  for (const GraphTensor& write : graph.writes) {
    text += "write n" + std::to_string(write.node) + "\n";
  }
  return text;
}

}  // namespace meshfuse
