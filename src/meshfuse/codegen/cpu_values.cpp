#include <algorithm>
#include <set>

#include "meshfuse/codegen/cpu_printer.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/codegen/number_text.h"
#include "meshfuse/codegen/value_text.h"
#include "meshfuse/ops/pointwise.h"

namespace meshfuse {

namespace {

/// Whether the value comes from memory, where it is rounded.
bool isStoredElement(const Node& node) {
  return node.kind == NodeKind::Read || node.kind == NodeKind::Pick ||
         node.kind == NodeKind::Masked;
}

}  // namespace

std::string CpuPrinter::valueText(NodeId id) {
  const Node& node = graph_.node(id);
  switch (node.kind) {
    case NodeKind::Read:
      return readText(node);
    case NodeKind::Count:
      return integer(slots_.count);
    case NodeKind::Index:
      return indexText(node);
    case NodeKind::Inside:
      return insideText(node, "j");
    case NodeKind::Masked:
      return maskedText(node);
    case NodeKind::Pick:
      return elementText(
          node, elementOf(name(pointerLetter_, node.index), tensorOf(node), name('y', id)));
    case NodeKind::Scan:
      return convertedText(node.type, node.compute,
                           isStaged_ ? stagedElement(id) : runningElement(id));
    case NodeKind::Fold:
      return isRetaken(node)
                 ? name('h', id)
                 : convertedText(node.type, node.compute, quotientText(id, foldText(id)));
    case NodeKind::Pointwise:
      if (dividesByRowValue(node)) {
        return convertedText(node.type, node.compute,
                             "quotientBy(" + operandText(graph_, node.operands[0], node.compute) +
                                 ", " + operandText(graph_, node.operands[1], node.compute) + ")");
      }
      if (choosesByPart(node)) {
        // A condition that is the same all along a loop may keep it from becoming vectors; a comparison does not.
        return convertedText(node.type, node.compute,
                             "op_where<" + std::string(deviceComputeName(node.compute)) +
                                 ">(int32(j) < " + name('l', node.operands[0]) + ", " +
                                 operandText(graph_, node.operands[1], node.compute) + ", " +
                                 operandText(graph_, node.operands[2], node.compute) + ")");
      }
      return computedText(graph_, node);
    default:
      return computedText(graph_, node);
  }
}

bool CpuPrinter::choosesByPart(const Node& node) const {
  return pointwiseRows()[static_cast<size_t>(node.index)].types == DtypeClass::Select &&
         graph_.node(node.operands[0]).kind == NodeKind::Inside && isSegmented(node.operands[0]);
}

bool CpuPrinter::dividesByRowValue(const Node& node) const {
  return dividesFloats(node) && !varies(node.operands[1]) && varies(node.operands[0]);
}

bool CpuPrinter::varies(NodeId id) const {
  const LoopMask loops = graph_.node(id).loops;
  return (loops & kernel_.laneLoops) != 0;
}

std::string CpuPrinter::foldText(NodeId id) const {
  // What is the same along the lane is the same in each of its accumulators.
  return name('f', id) + (kernel_.hasLaneAccumulators() && varies(id) ? "[j]" : "[0]");
}

std::string CpuPrinter::elementOf(const std::string& pointer, size_t tensor,
                                  const std::string& picked) const {
  const std::string more = picked.empty() ? std::string() : " + " + picked;
  switch (laneOf(tensor)) {
    case Step::None:
      return pointer + "[" + (picked.empty() ? "0" : picked) + "]";
    case Step::Unit:
      return pointer + "[j" + more + "]";
    default:
      return pointer + "[j * " + integer(slots_.strides[tensor].back()) + more + "]";
  }
}

std::string CpuPrinter::readText(const Node& node) {
  return elementText(node, elementOf(pointerName(tensorOf(node)), tensorOf(node)));
}

std::string CpuPrinter::elementText(const Node& node, const std::string& element) const {
  const PrimType type = kernel_.tensors[tensorOf(node)].type;
  return deviceTypeName(type) == deviceComputeName(type)
             ? element
             : "convert<" + std::string(deviceComputeName(type)) + ">(" + element + ")";
}

std::string CpuPrinter::insideText(const Node& node, const std::string& lane) const {
  const GraphPart& part = graph_.parts[static_cast<size_t>(node.index)];
  std::string text;
  for (size_t i = 0; i < part.bounds.size(); ++i) {
    const std::string position = positionText(indexTensor(part.bounds[i].second), lane);
    const std::string size =
        integer(slots_.parts[static_cast<size_t>(node.index)] + static_cast<int32_t>(i));
    text += i == 0 ? "(" : " & (";
    text += position;
    text += " >= 0) & (";
    text += infix(position, " < ", size);
    text += ')';
  }
  return text;
}

std::string CpuPrinter::maskedText(const Node& node) const {
  const NodeId inside = node.operands.front();
  const size_t tensor = tensorOf(node);
  if (!isSegmented(inside)) {
    const std::string element =
        elementText(node, elementOf(name(pointerLetter_, node.index), tensor));
    return valueName(inside) + " ? " + element + " : " + std::string(deviceComputeName(node.type)) +
           "(0)";
  }
  const std::string d = name('d', node.index);
  switch (kernel_.tensors[tensor].lane) {
    case Step::None:
      return elementText(node, d + "[0]");
    case Step::Unit:
      return elementText(node, d + "[j - cut]");
    default:
      return elementText(node, d + "[(j - cut) * " + name('e', node.index) + "]");
  }
}

bool CpuPrinter::isSegmented(NodeId inside) const {
  if (segmentPass_ == nullptr || !varies(inside)) {
    return segmentPass_ != nullptr;
  }
  const GraphPart& part = graph_.parts[static_cast<size_t>(graph_.node(inside).index)];
  return std::ranges::find(segmentPass_->nodes, inside) != segmentPass_->nodes.end() &&
         std::ranges::none_of(part.bounds, [&](const auto& bound) {
           return kernel_.tensors[indexTensor(bound.second)].lane == Step::Bound;
         });
}

size_t CpuPrinter::indexTensor(int32_t index) const {
  return kernel_.addressCount() + static_cast<size_t>(index);
}

std::string CpuPrinter::indexText(const Node& node) const {
  const std::string position = positionText(tensorOf(node), "j");
  return node.type == PrimType::Double ? "smallWhole(" + position + ")" : position;
}

std::string CpuPrinter::positionText(size_t tensor, const std::string& at) const {
  const std::string first = name(pointerLetter_, static_cast<int64_t>(tensor));
  const Step lane = kernel_.tensors[tensor].lane;
  const std::string position = lane == Step::None   ? first
                               : lane == Step::Unit ? infix(first, " + ", at)
                                                    : infix(infix(first, " + ", at), " * ",
                                                            integer(slots_.strides[tensor].back()));
  return position;
}

size_t CpuPrinter::tensorOf(const Node& node) const {
  return static_cast<size_t>(node.index) +
         (node.kind == NodeKind::Index ? kernel_.addressCount() : 0);
}

void CpuPrinter::define(NodeId id) {
  const Node& node = graph_.node(id);
  if (isChecked(node)) {
    definePosition(id);
  }
  if (node.kind == NodeKind::Scan && !isStaged_) {
    advance(id, termText(id, node.compute));
  }
  const std::string wide = "const " + std::string(deviceComputeName(node.type)) + " ";
  if (isReducedFloat(node.type)) {
    // A store rounds by itself; rounding what is rounded would be done twice.
    line(wide + unroundedName(id) + " = " + valueText(id) + ";");
    line(wide + valueName(id) + " = " +
         (isStoredElement(node) ? unroundedName(id) : roundedText(node.type, unroundedName(id))) +
         ";");
  } else {
    line(wide + valueName(id) + " = " + valueText(id) + ";");
  }
  if (dividesIntegers(node)) {
    line("zero |= isZeroDivisor(" + operandText(graph_, node.operands.back(), node.compute) + ");");
  }
}

/// Where the position is outside, the first element is read, and the flag is set.
void CpuPrinter::definePosition(NodeId id) {
  const Node& node = graph_.node(id);
  const std::string extent = integer(slots_.picked[tensorOf(node)]);
  const std::string stride = integer(slots_.picked[tensorOf(node)] + 1);
  const std::string given = valueName(node.operands[0]);
  const std::string x = name('x', id);
  const std::string o = name('o', id);
  const bool wraps = graph_.reads[tensorOf(node)].wraps;
  line("const int64 " + x + " = " +
       (wraps ? given + " < 0 ? " + given + " + " + extent + " : " + given : given) + ";");
  line("const bool " + o + " = (" + x + " < 0) | (" + x + " >= " + extent + ");");
  line("outside |= " + o + ";");
  line("const int64 " + name('y', id) + " = (" + o + " ? 0 : " + x + ") * " + stride + ";");
}

std::string CpuPrinter::storedText(const LoopStore& store) {
  const PrimType type = kernel_.tensors[static_cast<size_t>(store.tensor)].type;
  const std::string value =
      isReducedFloat(type) ? unroundedName(store.node) : valueName(store.node);
  return deviceTypeName(type) == deviceComputeName(type)
             ? value
             : "convert<" + std::string(deviceTypeName(type)) + ">(" + value + ")";
}

void CpuPrinter::restore(NodeId id, const std::string& element) {
  const PrimType type = graph_.node(id).type;
  line("const " + std::string(deviceComputeName(type)) + " " + valueName(id) + " = " + element +
       ";");
  if (isReducedFloat(type)) {
    line("const float " + unroundedName(id) + " = " + valueName(id) + ";");
  }
}

void CpuPrinter::restoreKept(const std::vector<NodeId>& users, const std::vector<NodeId>& own,
                             const std::string& base, const std::vector<LoopStore>& stores) {
  std::set<NodeId> needed;
  for (const LoopStore& store : stores) {
    if (isKept(store.node) && std::ranges::find(own, store.node) == own.end()) {
      needed.insert(store.node);
    }
  }
  for (NodeId user : users) {
    if (graph_.node(user).kind == NodeKind::Fold && &users == &own) {
      continue;
    }
    for (NodeId operand : graph_.node(user).operands) {
      if (isKept(operand) && std::ranges::find(own, operand) == own.end()) {
        needed.insert(operand);
      }
    }
  }
  for (NodeId id : needed) {
    restore(id, name('k', id) + "[" + base + "j]");
  }
}

bool CpuPrinter::isKept(NodeId id) const {
  return std::ranges::any_of(kernel_.sections, [&](const LoopSection& section) {
    return std::ranges::find(section.kept, id) != section.kept.end();
  });
}

}  // namespace meshfuse
