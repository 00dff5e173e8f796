// Passes that go through the lane by segments, in which each part of the output is read all along or not at all.
#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/value_text.h"

namespace meshfuse {

bool CpuPrinter::hasMasked(const LoopPass& pass) const {
  return std::ranges::any_of(pass.nodes,
                             [&](NodeId id) { return graph_.node(id).kind == NodeKind::Masked; });
}

/// Where one of the parts begins or ends, a segment of the lane ends: in it, what is masked is read all along or not at all.
void CpuPrinter::segmentBegin(const LoopPass& pass) {
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Inside || !isSegmented(id)) {
      continue;
    }
    const GraphPart& part = graph_.parts[static_cast<size_t>(node.index)];
    for (size_t i = 0; i < part.bounds.size(); ++i) {
      const size_t tensor = indexTensor(part.bounds[i].second);
      if (kernel_.tensors[tensor].lane == Step::None) {
        continue;
      }
      const std::string size =
          integer(slots_.parts[static_cast<size_t>(node.index)] + static_cast<int32_t>(i));
      const std::string position = positionText(tensor, "cut");
      line(infix("stop = segmentEnd(" + position, ", ", size) + ", cut, stop);");
    }
    line("const bool " + valueName(id) + " = " + insideText(node, "cut") + ";");
  }
  segmentReads(pass);
}

void CpuPrinter::segmentReads(const LoopPass& pass) {
  std::set<NodeId> choices;
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind == NodeKind::Pointwise && choosesByPart(node) &&
        choices.insert(node.operands[0]).second) {
      line("const int32 " + name('l', node.operands[0]) + " = " + valueName(node.operands[0]) +
           " ? 2147483647 : -1;");
    }
  }
  std::set<int32_t> defined;
  for (NodeId id : pass.nodes) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::Masked || !isSegmented(node.operands.front()) ||
        !defined.insert(node.index).second) {
      continue;
    }
    const size_t tensor = tensorOf(node);
    const Step lane = kernel_.tensors[tensor].lane;
    const std::string isInside = valueName(node.operands.front());
    std::string element = name('b', node.index);
    if (lane != Step::None) {
      element +=
          lane == Step::Unit ? " + cut" : " + cut * " + integer(slots_.strides[tensor].back());
    }
    pointer('d', tensor, infix(infix(isInside, " ? ", element), " : ", name('z', node.index)));
    if (lane == Step::Bound) {
      line("const int64 " + name('e', node.index) + " = " + isInside + " ? " +
           integer(slots_.strides[tensor].back()) + " : 0;");
    }
  }
}

}  // namespace meshfuse
